import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountModule } from '../account/account.module.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { AccountController } from './account.controller.js';
import { AccountKeyController } from './account-key.controller.js';
import { AccountKeyStrategy } from './account-key.strategy.js';
import { AuditController } from './audit.controller.js';
import { AuthController } from './auth.controller.js';
import { AuthMetrics } from './auth.metrics.js';
import { AuthService } from './auth.service.js';
import { ForgottenPasswordService } from './forgotten-password.service.js';
import { LoginAuditService } from './login-audit.service.js';
import { LoginEntity } from './login.entity.js';
import { LoginStore } from './login.store.js';
import { LoginThrottle } from './login-throttle.js';
import { LongCallService } from './long-call.service.js';
import { MemberController } from './member.controller.js';
import { MemberLinkController } from './member-link.controller.js';
import { SessionController } from './session.controller.js';
import { SsoController } from './sso.controller.js';
import { SsoCookie } from './sso-cookie.js';
import { SsoProvider } from './sso-provider.js';
import { SsoService } from './sso.service.js';
import { SessionCookie } from './session-cookie.js';
import { TokenService } from './token.service.js';
import { AccessTokenStrategy, CookieStrategy, RefreshTokenStrategy } from './token.strategy.js';
import { TwoFactorController } from './two-factor.controller.js';
import { TwoFactorEntity } from './two-factor.entity.js';
import { TwoFactorService } from './two-factor.service.js';
import { TwoFactorStore } from './two-factor.store.js';

/** Who is calling: logins, tokens, account keys and their guards. */
@Module({
  imports: [AccountModule, OutboxModule, TypeOrmModule.forFeature([LoginEntity, TwoFactorEntity]), JwtModule],
  controllers: [
    AuthController,
    SessionController,
    SsoController,
    TwoFactorController,
    AccountController,
    MemberController,
    MemberLinkController,
    AccountKeyController,
    AuditController,
  ],
  providers: [
    AuthService,
    TwoFactorService,
    TwoFactorStore,
    AuthMetrics,
    TokenService,
    LoginThrottle,
    LoginAuditService,
    ForgottenPasswordService,
    LongCallService,
    SessionCookie,
    SsoService,
    SsoProvider,
    SsoCookie,
    LoginStore,
    AccessTokenStrategy,
    RefreshTokenStrategy,
    CookieStrategy,
    AccountKeyStrategy,
  ],
  // The guards need the keys wherever they stand.
  exports: [AccountModule, AuthService, TokenService, LoginAuditService, LongCallService],
})
export class AuthModule {}
