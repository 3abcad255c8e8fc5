import { Body, Controller, HttpCode, Ip, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from '../platform/http/public.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { captchaWaitMs } from '../signup/captcha.service.js';
import { SignupService } from '../signup/signup.service.js';
import { Superseded } from './deprecation.js';
import { GetUserStatusDto, SubmitUserDto, UserDto } from './first-generation.dto.js';

@ApiTags('First generation')
@Public()
@Controller('api/v1')
export class FirstGenerationController {
  constructor(private readonly signups: SignupService) {}

  @Post('waitlists/submit')
  @HttpCode(200)
  @Superseded('/api/v1/signup', { waitsMs: captchaWaitMs })
  @ApiOperation({
    deprecated: true,
    summary: 'Submit a user',
    description:
      'Signs a person up, by the rules of `POST /api/v1/signup`: if the waitlist already has the email or phone, it returns the existing record, unchanged.',
  })
  @ApiOkResponse({ description: 'The record, new or existing.', type: UserDto })
  @ApiProblems('WAITLIST_NOT_FOUND', 'WAITLIST_RULE_BROKEN', 'WAITLIST_CLOSED', 'TOO_MANY_MISSES')
  async submitUser(@Body() body: SubmitUserDto, @Ip() address: string): Promise<UserDto> {
    return UserDto.from(await this.signups.join(SubmitUserDto.toRequest(body), address));
  }

  @Post('users/status')
  @HttpCode(200)
  @Superseded('/api/v1/signup')
  @ApiOperation({
    deprecated: true,
    summary: 'Get the status of a user',
    description: 'Looks a person up by email, by the rules and limits of `GET /api/v1/signup`.',
  })
  @ApiOkResponse({ description: 'The record.', type: UserDto })
  @ApiProblems('WAITLIST_NOT_FOUND', 'NO_WAITER_FOUND', 'TOO_MANY_MISSES')
  async getUserStatus(@Body() body: GetUserStatusDto, @Ip() address: string): Promise<UserDto> {
    return UserDto.from(await this.signups.find(body, GetUserStatusDto.toSought(body), address));
  }
}
