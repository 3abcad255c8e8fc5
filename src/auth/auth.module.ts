import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountEntity } from './account.entity.js';
import { AccountStore } from './account.store.js';
import { AccountKeyController } from './account-key.controller.js';
import { AccountKeyEntity } from './account-key.entity.js';
import { AccountKeyService } from './account-key.service.js';
import { AccountKeyStore } from './account-key.store.js';
import { AccountKeyStrategy } from './account-key.strategy.js';
import { AuditController } from './audit.controller.js';
import { AuthController } from './auth.controller.js';
import { AuthMetrics } from './auth.metrics.js';
import { AuthService } from './auth.service.js';
import { LoginAuditService } from './login-audit.service.js';
import { LoginEntity } from './login.entity.js';
import { LoginStore } from './login.store.js';
import { LoginThrottle } from './login-throttle.js';
import { PasswordHasher } from './password-hasher.js';
import { SessionController } from './session.controller.js';
import { SessionCookie } from './session-cookie.js';
import { TokenService } from './token.service.js';
import { AccessTokenStrategy, CookieStrategy, RefreshTokenStrategy } from './token.strategy.js';

/** Who is calling: accounts, passwords, tokens and account keys. */
@Module({
  imports: [TypeOrmModule.forFeature([AccountEntity, LoginEntity, AccountKeyEntity]), JwtModule],
  controllers: [AuthController, SessionController, AccountKeyController, AuditController],
  providers: [
    AuthService,
    AuthMetrics,
    TokenService,
    AccountKeyService,
    LoginThrottle,
    LoginAuditService,
    PasswordHasher,
    SessionCookie,
    AccountStore,
    LoginStore,
    AccountKeyStore,
    AccessTokenStrategy,
    RefreshTokenStrategy,
    CookieStrategy,
    AccountKeyStrategy,
  ],
  exports: [AuthService, TokenService, AccountKeyService, LoginAuditService],
})
export class AuthModule {}
