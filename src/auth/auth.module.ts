import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountEntity } from './account.entity.js';
import { AccountStore } from './account.store.js';
import { AuditController } from './audit.controller.js';
import { AuthController } from './auth.controller.js';
import { AuthMetrics } from './auth.metrics.js';
import { AuthService } from './auth.service.js';
import { LoginAuditService } from './login-audit.service.js';
import { LoginEntity } from './login.entity.js';
import { LoginStore } from './login.store.js';
import { LoginThrottle } from './login-throttle.js';
import { PasswordHasher } from './password-hasher.js';
import { TokenService } from './token.service.js';
import { AccessTokenStrategy, RefreshTokenStrategy } from './token.strategy.js';

/** Who is calling: accounts, passwords and tokens. */
@Module({
  imports: [TypeOrmModule.forFeature([AccountEntity, LoginEntity]), JwtModule],
  controllers: [AuthController, AuditController],
  providers: [
    AuthService,
    AuthMetrics,
    TokenService,
    LoginThrottle,
    LoginAuditService,
    PasswordHasher,
    AccountStore,
    LoginStore,
    AccessTokenStrategy,
    RefreshTokenStrategy,
  ],
  exports: [AuthService, TokenService, LoginAuditService],
})
export class AuthModule {}
