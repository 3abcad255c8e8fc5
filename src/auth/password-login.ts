import { applyDecorators, type CanActivate, Inject, Injectable, UseGuards } from '@nestjs/common';
import { type Config, CONFIG } from '../platform/config/config.js';
import { Problem } from '../platform/problems/problem.js';

@Injectable()
class PasswordLoginGuard implements CanActivate {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  canActivate(): boolean {
    if (this.config.passwordLogin) return true;
    throw new Problem('PASSWORD_LOGIN_OFF');
  }
}

/**
 * An operation with a password, refused where `PASSWORD_LOGIN` is off. Stands below the decorator that says who may
 * call, so that it comes before all other refusals. Its `@ApiProblems` name `PASSWORD_LOGIN_OFF`.
 */
export const NeedsPasswordLogin = () => applyDecorators(UseGuards(PasswordLoginGuard));
