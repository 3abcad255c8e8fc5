import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { PassportModule } from '@nestjs/passport';
import { AccountStore } from './account.store.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';
import { LoginThrottle } from './login-throttle.js';
import { RefreshTokenStore } from './refresh-token.store.js';
import { TokenService } from './token.service.js';
import { AccessTokenStrategy, RefreshTokenStrategy } from './token.strategy.js';

@Module({
  imports: [PassportModule, JwtModule],
  controllers: [AuthController],
  providers: [AuthService, TokenService, LoginThrottle, AccountStore, RefreshTokenStore, AccessTokenStrategy, RefreshTokenStrategy],
  exports: [AuthService],
})
export class AuthModule {}
