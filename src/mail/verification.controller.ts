import { Body, Controller, HttpCode, Ip, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from '../platform/http/public.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { ResendVerificationDto } from './verification.dto.js';
import { VerificationService } from './verification.service.js';

@ApiTags('Signup')
@Public()
@Controller('api/v1/signup')
export class VerificationController {
  constructor(private readonly verification: VerificationService) {}

  @Post('resend_verification')
  @HttpCode(202)
  @RateLimited('public')
  @ApiOperation({
    summary: 'Resend a Verification',
    description:
      'Mails a new link to a person whose email is not verified. The answer is the same for every email, whether the waitlist has it or not. At most 5 such mails an hour and 10 a day go to one mailbox; beyond that the answer is the same, and no mail is sent. One address can ask 5 times an hour. Earlier links work until one is used.',
  })
  @ApiAcceptedResponse({ description: 'A mail is sent if the email belongs to a signup that waits for it.' })
  @ApiProblems('WAITLIST_NOT_FOUND')
  async resendVerification(@Body() body: ResendVerificationDto, @Ip() address: string): Promise<void> {
    const { waitlist_id, api_key, email } = body;
    await this.verification.resend({ waitlist_id, api_key }, email, address);
  }
}
