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

/** Above what the owner's words can become with the values of twenty placeholders, escaped in HTML. */
const SUBJECT_MAX = 50_000;
const TEXT_MAX = 100_000;
const HTML_MAX = 500_000;

export class MailPreviewDto {
  @ApiProperty({ maxLength: SUBJECT_MAX, description: 'Subject.', example: 'You’re on the list: Lumen' })
  subject!: string;

  @ApiProperty({ maxLength: TEXT_MAX, description: 'The mail as plain text.' })
  text!: string;

  @ApiProperty({ maxLength: HTML_MAX, description: 'The mail as an HTML document.' })
  html!: string;

  static from({ subject, text, html }: ShownMail): MailPreviewDto {
    return { subject, text, html };
  }
}
