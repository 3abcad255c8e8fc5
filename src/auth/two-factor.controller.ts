import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { CurrentCaller, LoginOnly } from './access.js';
import { AuthService } from './auth.service.js';
import type { TokenCaller } from './token.service.js';
import { DisableTwoFactorDto, NewTwoFactorDto, OtpDto, RecoveryCodesDto, SetUpTwoFactorDto } from './two-factor.dto.js';

const PASSWORD_PROBLEMS = ['MISSING_TOKEN', 'INVALID_TOKEN', 'WRONG_PASSWORD', 'TOO_MANY_ATTEMPTS'] as const;
const CODE_PROBLEMS = [
  'MISSING_TOKEN',
  'INVALID_TOKEN',
  'WRONG_OTP',
  'TWO_FACTOR_OFF',
  'TOO_MANY_ATTEMPTS',
  'SECRET_UNAVAILABLE',
] as const;

@ApiTags('Auth')
@Controller('api/v1/auth/two_factor')
export class TwoFactorController {
  constructor(private readonly auth: AuthService) {}

  @Post()
  @HttpCode(200)
  @RateLimited('login')
  @LoginOnly()
  @ApiOperation({
    summary: 'Set up a second factor',
    description:
      'Gives a secret for an authenticator app (TOTP, RFC 6238). Nothing changes until `POST /api/v1/auth/two_factor/confirm` shows that the app has it; another call gives another secret in its place. A wrong `current_password` counts as a failed login.',
  })
  @ApiOkResponse({ description: 'The secret.', type: NewTwoFactorDto })
  @ApiProblems(...PASSWORD_PROBLEMS, 'TWO_FACTOR_ON')
  async setUpTwoFactor(
    @CurrentCaller() caller: TokenCaller,
    @Body() { current_password }: SetUpTwoFactorDto,
    @Req() request: FastifyRequest,
  ): Promise<NewTwoFactorDto> {
    return NewTwoFactorDto.from(await this.auth.beginTwoFactor(caller, current_password, request));
  }

  @Post('confirm')
  @HttpCode(200)
  @RateLimited('login')
  @LoginOnly()
  @ApiOperation({
    summary: 'Confirm the second factor',
    description:
      'From now on, a login by password needs `otp` too. All your other logins end at once; that of the access token goes on. A wrong `otp` counts as a failed login.',
  })
  @ApiOkResponse({ description: 'Recovery codes, for the day on which the app is lost.', type: RecoveryCodesDto })
  @ApiProblems(...CODE_PROBLEMS, 'TWO_FACTOR_ON')
  async confirmTwoFactor(
    @CurrentCaller() caller: TokenCaller,
    @Body() { otp }: OtpDto,
    @Req() request: FastifyRequest,
  ): Promise<RecoveryCodesDto> {
    return RecoveryCodesDto.from(await this.auth.confirmTwoFactor(caller, otp, request));
  }

  @Post('recovery_codes')
  @HttpCode(200)
  @RateLimited('login')
  @LoginOnly()
  @ApiOperation({
    summary: 'Replace the recovery codes',
    description: 'Gives new recovery codes; those of before end. A wrong `otp` counts as a failed login.',
  })
  @ApiOkResponse({ description: 'The new recovery codes.', type: RecoveryCodesDto })
  @ApiProblems(...CODE_PROBLEMS)
  async replaceRecoveryCodes(
    @CurrentCaller() caller: TokenCaller,
    @Body() { otp }: OtpDto,
    @Req() request: FastifyRequest,
  ): Promise<RecoveryCodesDto> {
    return RecoveryCodesDto.from(await this.auth.replaceRecoveryCodes(caller, otp, request));
  }

  @Post('disable')
  @HttpCode(204)
  @RateLimited('login')
  @LoginOnly()
  @ApiOperation({
    summary: 'Disable the second factor',
    description:
      'From now on, a login needs the password alone, and the recovery codes are gone. A wrong `current_password` or `otp` counts as a failed login.',
  })
  @ApiNoContentResponse({ description: 'Disabled.' })
  @ApiProblems(...CODE_PROBLEMS, 'WRONG_PASSWORD')
  async disableTwoFactor(
    @CurrentCaller() caller: TokenCaller,
    @Body() { current_password, otp }: DisableTwoFactorDto,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    await this.auth.disableTwoFactor(caller, current_password, otp, request);
  }
}
