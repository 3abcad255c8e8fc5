import { ApiProperty } from '@nestjs/swagger';
import { Flag, Lines, Nested, Text } from '../platform/contract/fields.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import {
  type MailWords,
  PLACEHOLDERS,
  type WordChange,
  WORDED_MAILS,
  type WordedMail,
} from '../queue/settings/mail-words.js';
import { DEFAULTS, type GivenSettings, type WordedWaitlist } from './waitlist.service.js';

const SUBJECT = {
  maxLength: 200,
  nullable: true,
  description: "Subject. Null stands for the service's own.",
  example: 'Welcome to {waitlist_name}',
} as const;
const TEXT = {
  maxLength: 5_000,
  nullable: true,
  description:
    "Text, between the service's greeting and its button. A blank line begins a paragraph. Null stands for the service's own.",
  example: 'You are number {place}.\n\nWe will write to you when it is your turn.',
} as const;
const KINDS: Readonly<Record<WordedMail, string>> = {
  verification: `The mail with the link that verifies an email. Placeholders: ${listed('verification')}. It shows no name, because a stranger may have typed it.`,
  welcome: `The mail of \`mail_on_signup\`. Placeholders: ${listed('welcome')}; \`{first_name}\` is empty unless the email is verified.`,
  offer: `The mail with the link to accept or decline an offer. Placeholders: ${listed('offer')}; \`{place}\` is the place when the offer was made, and \`{first_name}\` is empty unless the email is verified.`,
  your_turn: `The mail of \`mail_on_offboarding\`. Placeholders: ${listed('your_turn')}; \`{first_name}\` is empty unless the email is verified.`,
};
const MAILS = {
  description:
    'Your words in the mails to people. `{place}` and the other placeholders of a mail stand for its values, and one without a value is empty; an unknown one in a changed text is refused. Omitted texts keep their value.',
} as const;
const MAIL_SUBJECT = {
  ...SUBJECT,
  description:
    "Another name of `mails.verification.subject`. If both change, that one counts. Null stands for the service's own.",
  example: 'Confirm your place',
} as const;
const MAIL_TEXT = {
  ...TEXT,
  description:
    "Another name of `mails.verification.text`. If both change, that one counts. Null stands for the service's own.",
  example: 'Welcome! One click, and you are in.',
} as const;
const MAIL_ON_OFFBOARDING = {
  description:
    'Whether people get a mail when they are let in, by an offboarding or by accepting an offer. It needs a service that sends mail (`SMTP_URL`).',
} as const;
const MAIL_ON_SIGNUP = {
  description:
    'Whether people get a mail when they first enter the queue, with their position, the address of their own page and their referral link. With `verification: optional`, it is also the verification mail. It needs a service that sends mail (`SMTP_URL`).',
} as const;

function listed(kind: WordedMail): string {
  return PLACEHOLDERS[kind].map((name) => `\`{${name}}\``).join(', ');
}

@KnownFieldsOnly()
export class MailWordsDto {
  @Text({ ...SUBJECT, minLength: 1, optional: true })
  subject?: string | null;

  @Lines({ ...TEXT, minLength: 1, optional: true })
  text?: string | null;
}

@KnownFieldsOnly()
export class MailsDto {
  @Nested(MailWordsDto, { description: KINDS.verification, nullable: true, optional: true })
  verification?: MailWordsDto | null;

  @Nested(MailWordsDto, { description: KINDS.welcome, nullable: true, optional: true })
  welcome?: MailWordsDto | null;

  @Nested(MailWordsDto, { description: KINDS.offer, nullable: true, optional: true })
  offer?: MailWordsDto | null;

  @Nested(MailWordsDto, { description: KINDS.your_turn, nullable: true, optional: true })
  your_turn?: MailWordsDto | null;

  static toChanges(mails: MailsDto): WordChange[] {
    return WORDED_MAILS.flatMap((kind) => {
      const words = mails[kind];
      if (words === undefined) return [];
      const { subject, text } = words ?? { subject: null, text: null };
      return [
        ...change(`mails.${kind}.subject`, kind, 'subject', subject),
        ...change(`mails.${kind}.text`, kind, 'text', text),
      ];
    });
  }
}

function change(
  field: string,
  kind: WordedMail,
  part: keyof MailWords,
  value: string | null | undefined,
): WordChange[] {
  return value === undefined ? [] : [{ field, kind, part, value }];
}

export class ConfiguredMailWordsDto {
  @ApiProperty({ ...SUBJECT, type: String })
  subject!: string | null;

  @ApiProperty({ ...TEXT, type: String })
  text!: string | null;

  static from({ subject, text }: MailWords): ConfiguredMailWordsDto | null {
    return subject === null && text === null ? null : { subject, text };
  }
}

/** The owner's words; null for a mail that has none. */
export class ConfiguredMailsDto {
  @ApiProperty({ description: KINDS.verification, type: ConfiguredMailWordsDto, nullable: true })
  verification!: ConfiguredMailWordsDto | null;

  @ApiProperty({ description: KINDS.welcome, type: ConfiguredMailWordsDto, nullable: true })
  welcome!: ConfiguredMailWordsDto | null;

  @ApiProperty({ description: KINDS.offer, type: ConfiguredMailWordsDto, nullable: true })
  offer!: ConfiguredMailWordsDto | null;

  @ApiProperty({ description: KINDS.your_turn, type: ConfiguredMailWordsDto, nullable: true })
  your_turn!: ConfiguredMailWordsDto | null;
}

/** The settings of a request about the mails to people. */
export class MailSettingsDto {
  @Nested(MailsDto, { ...MAILS, optional: true })
  mails?: MailsDto;

  @Text({ ...MAIL_SUBJECT, minLength: 1, optional: true })
  mail_subject?: string | null;

  @Lines({ ...MAIL_TEXT, minLength: 1, optional: true })
  mail_text?: string | null;

  @Flag({ ...MAIL_ON_OFFBOARDING, default: DEFAULTS.mailOnOffboarding })
  mail_on_offboarding?: boolean;

  @Flag({ ...MAIL_ON_SIGNUP, default: DEFAULTS.mailOnSignup })
  mail_on_signup?: boolean;

  static toMails(body: MailSettingsDto) {
    return {
      mails: [
        ...change('mail_subject', 'verification', 'subject', body.mail_subject),
        ...change('mail_text', 'verification', 'text', body.mail_text),
        ...(body.mails ? MailsDto.toChanges(body.mails) : []),
      ],
      mailOnOffboarding: body.mail_on_offboarding,
      mailOnSignup: body.mail_on_signup,
    } satisfies GivenSettings;
  }
}

/** The fields of a waitlist about the mails to people. */
export class MailSettingsViewDto {
  @ApiProperty({ ...MAILS, type: ConfiguredMailsDto })
  mails!: ConfiguredMailsDto;

  @ApiProperty({ ...MAIL_SUBJECT, type: String })
  mail_subject!: string | null;

  @ApiProperty({ ...MAIL_TEXT, type: String })
  mail_text!: string | null;

  @ApiProperty({ ...MAIL_ON_OFFBOARDING, example: false })
  mail_on_offboarding!: boolean;

  @ApiProperty({ ...MAIL_ON_SIGNUP, example: false })
  mail_on_signup!: boolean;

  static of({ mails, mailOnOffboarding, mailOnSignup }: WordedWaitlist): MailSettingsViewDto {
    return {
      mails: {
        verification: ConfiguredMailWordsDto.from(mails.verification),
        welcome: ConfiguredMailWordsDto.from(mails.welcome),
        offer: ConfiguredMailWordsDto.from(mails.offer),
        your_turn: ConfiguredMailWordsDto.from(mails.your_turn),
      },
      mail_subject: mails.verification.subject,
      mail_text: mails.verification.text,
      mail_on_offboarding: mailOnOffboarding,
      mail_on_signup: mailOnSignup,
    };
  }
}
