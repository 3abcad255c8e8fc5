import { ApiProperty } from '@nestjs/swagger';
import { OneOf } from '../platform/contract/fields.js';
import { WORDED_MAILS, type WordedMail } from '../outbox/mail.entity.js';
import type { ShownMail } from './waitlist-mail.service.js';

export class MailKindDto {
  @OneOf({
    enum: WORDED_MAILS,
    enumName: 'WordedMail',
    description: 'The mail, by its name in `mails`.',
    example: 'welcome',
  })
  kind!: WordedMail;
}

export class MailPreviewDto {
  @ApiProperty({ description: 'Subject.', example: 'You’re on the list: Lumen' })
  subject!: string;

  @ApiProperty({ description: 'The mail as plain text.' })
  text!: string;

  @ApiProperty({ description: 'The mail as an HTML document.' })
  html!: string;

  static from({ subject, text, html }: ShownMail): MailPreviewDto {
    return { subject, text, html };
  }
}
