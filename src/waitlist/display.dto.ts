import { ApiProperty } from '@nestjs/swagger';
import { OWN_TEXT_KEYS } from '../../web/page/own-texts.js';
import { LANGUAGES } from '../../web/page/texts.js';
import { emailKey } from '../platform/contract/email.js';
import {
  broken,
  Flag,
  Holds,
  HttpUrl,
  Lines,
  Metadata,
  Text,
  TextList,
  Texts,
  WholeNumber,
} from '../platform/contract/fields.js';
import { isHttpUrl, openEnum } from '../platform/contract/formats.js';
import type { JsonObject } from '../queue/record/waiter.js';
import type { Display, RequiredContact } from '../queue/settings/waitlist.entity.js';
import { given } from '../queue/settings/settings.js';
import { DEFAULTS, type Waitlist } from './waitlist.service.js';

const { display: DISPLAY_DEFAULTS } = DEFAULTS;
const DISPLAY_FIELDS = Object.keys(DISPLAY_DEFAULTS) as (keyof Display)[];
/** Small, because every view of a waitlist contains it. */
const STYLE_BYTES_MAX = 8 * 1024;
const CONTACT_DETAILS = ['EMAIL', 'PHONE', 'EMAIL_AND_PHONE'] as const;
type ContactDetail = (typeof CONTACT_DETAILS)[number];

const TITLE = {
  maxLength: 200,
  nullable: true,
  description: 'Heading of the signup form.',
  example: 'Join us',
} as const;
const SUCCESS_TITLE = { ...TITLE, description: 'Heading after a signup.', example: 'You are in' } as const;
const BUTTON_TITLE = { ...TITLE, maxLength: 100, description: 'Text of the button.', example: 'Sign up' } as const;
const TWITTER_MESSAGE = {
  maxLength: 500,
  nullable: true,
  description: 'Text that a person may post, before the referral link. It may have several lines.',
  example: 'I am on the list. Join me:',
} as const;
const LOGO = {
  maxLength: 2048,
  nullable: true,
  description: 'Address of an image, an https URL.',
  example: 'https://example.com/logo.png',
} as const;
/** The page's policy names the host: a `*` there would allow other hosts, a `;` would end the directive. */
const LOGO_PATTERN = String.raw`^https://[A-Za-z\d_.:\[\]-]+(?:[/?#]|$)`;
const STYLE = {
  description: `Colors and other looks, under names of the page's own: a JSON object of at most ${STYLE_BYTES_MAX} bytes as compact JSON.`,
  example: { widget_background_color: '#4937e7' },
};
const LEADERBOARD_LENGTH = { minimum: 1, maximum: 100 } as const;
const LEADERBOARD_LENGTH_TEXT = { description: 'How many people the leaderboard shows.' } as const;
const USES_NAMES = { description: 'Whether the form asks for first and last name.' } as const;
const USES_LEADERBOARD = { description: 'Whether the public may see the leaderboard.' } as const;
const REMOVES_HEADERS = { description: 'Whether the widget leaves out its headings.' } as const;
const LANG = {
  minLength: 1,
  maxLength: 35,
  description: `Language of the page, the widget and mails to visitors, as a BCP 47 tag. It picks the texts, the direction and the form of numbers. Languages with texts: ${LANGUAGES.join(', ')}. Any other tag has those of its primary language, else the English ones.`,
  example: 'en',
} as const;
const TEXT_LENGTH_MAX = 500;
/** In answers. It leaves room for texts of later versions. */
const TEXTS_SHOWN_MAX = 200;
const TEXTS = {
  description:
    'Texts of the page and the widget in place of the default ones of `lang`, by their keys. A text may have several lines. Line breaks show in paragraphs; elsewhere they count as spaces.',
  example: { button: 'Join us' },
} as const;
const YOUR_TURN_URL = {
  maxLength: 2048,
  nullable: true,
  description:
    'Where the page of a person who was let in leads, and Accept of an offer without `offers.url`: an https URL.',
  example: 'https://example.com/welcome',
} as const;
const CONTACT = {
  maxLength: 254,
  nullable: true,
  description:
    'Contact for people: an email or an https URL. A private page shows it where the service can mail no link to leave.',
  example: 'hello@example.com',
} as const;
const LABEL = String.raw`[A-Za-z\d](?:[A-Za-z\d-]*[A-Za-z\d])?`;
/** From 1 to 65,535. */
const PORT = String.raw`(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])`;
export const FRAME_ORIGINS = {
  maxItems: 10,
  items: { maxLength: 261, pattern: String.raw`^https?://${LABEL}(?:\.${LABEL})*(?::${PORT})?$` },
  description: 'Origins whose pages may show the page of the waitlist in a frame.',
  example: ['https://example.com'],
} as const;
const SHOWS_LINKS = { description: 'Whether the widget shows links to social networks.' } as const;

const SHOWS_INVITER = {
  description:
    'Whether the page behind a referral link says who invited, by the first name of a person whose email is verified.',
} as const;

/** The fields of a request that only pages and widgets read. */
export class DisplaySettingsDto {
  @Text({ ...TITLE, default: DISPLAY_DEFAULTS.title })
  title?: string | null;

  @Text({ ...SUCCESS_TITLE, default: DISPLAY_DEFAULTS.success_title })
  success_title?: string | null;

  @Text({ ...BUTTON_TITLE, default: DISPLAY_DEFAULTS.signup_button_title })
  signup_button_title?: string | null;

  @HttpUrl({ ...LOGO, default: DISPLAY_DEFAULTS.logo, pattern: LOGO_PATTERN })
  logo?: string | null;

  @Metadata({ ...STYLE, default: DISPLAY_DEFAULTS.configuration_style_json, maxBytes: STYLE_BYTES_MAX })
  configuration_style_json?: JsonObject;

  @Flag({ ...USES_NAMES, default: DISPLAY_DEFAULTS.uses_firstname_lastname })
  uses_firstname_lastname?: boolean;

  @Flag({ ...USES_LEADERBOARD, default: DISPLAY_DEFAULTS.uses_leaderboard })
  uses_leaderboard?: boolean;

  @WholeNumber({ ...LEADERBOARD_LENGTH, ...LEADERBOARD_LENGTH_TEXT, default: DISPLAY_DEFAULTS.leaderboard_length })
  leaderboard_length?: number;

  @Flag({ ...REMOVES_HEADERS, default: DISPLAY_DEFAULTS.remove_widget_headers })
  remove_widget_headers?: boolean;

  @Flag({ ...SHOWS_LINKS, default: DISPLAY_DEFAULTS.widget_shows_social_links })
  widget_shows_social_links?: boolean;

  @Lines({ ...TWITTER_MESSAGE, default: DISPLAY_DEFAULTS.twitter_message })
  twitter_message?: string | null;

  @Holds('lang', langFault)
  @Text({ ...LANG, format: 'language', default: DISPLAY_DEFAULTS.lang })
  lang?: string;

  @Texts({
    ...TEXTS,
    description: `${TEXTS.description} The keys: ${OWN_TEXT_KEYS.map((key) => `\`${key}\``).join(', ')}.`,
    keys: OWN_TEXT_KEYS,
    maxLength: TEXT_LENGTH_MAX,
    optional: true,
  })
  texts?: Record<string, string>;

  @HttpUrl({ ...YOUR_TURN_URL, default: DISPLAY_DEFAULTS.your_turn_url, pattern: '^https://' })
  your_turn_url?: string | null;

  @Holds('contact', contactFault)
  @Text({ ...CONTACT, format: 'contact', default: DISPLAY_DEFAULTS.contact })
  contact?: string | null;

  @Flag({ ...SHOWS_INVITER, default: DISPLAY_DEFAULTS.shows_inviter })
  shows_inviter?: boolean;

  @TextList({ ...FRAME_ORIGINS, optional: true })
  frame_origins?: string[];

  static toDisplay(body: DisplaySettingsDto): Partial<Display> {
    return given(Object.fromEntries(DISPLAY_FIELDS.map((field) => [field, body[field]])));
  }
}

/** The fields of a waitlist that only pages and widgets read. */
export class DisplayDto {
  @ApiProperty({ ...TITLE, type: String })
  title!: string | null;

  @ApiProperty({ ...SUCCESS_TITLE, type: String })
  success_title!: string | null;

  @ApiProperty({ ...BUTTON_TITLE, type: String })
  signup_button_title!: string | null;

  @ApiProperty({ ...LOGO, type: String, format: 'uri' })
  logo!: string | null;

  @ApiProperty({ ...STYLE, type: 'object', additionalProperties: true })
  configuration_style_json!: JsonObject;

  @ApiProperty({ ...USES_NAMES, example: false })
  uses_firstname_lastname!: boolean;

  @ApiProperty({ ...USES_LEADERBOARD, example: false })
  uses_leaderboard!: boolean;

  @ApiProperty({ ...LEADERBOARD_LENGTH, ...LEADERBOARD_LENGTH_TEXT, type: 'integer', format: 'int32', example: 10 })
  leaderboard_length!: number;

  @ApiProperty({ ...REMOVES_HEADERS, example: false })
  remove_widget_headers!: boolean;

  @ApiProperty({ ...SHOWS_LINKS, example: false })
  widget_shows_social_links!: boolean;

  @ApiProperty({ ...TWITTER_MESSAGE, type: String })
  twitter_message!: string | null;

  @ApiProperty({ ...LANG, type: String })
  lang!: string;

  @ApiProperty({
    ...TEXTS,
    type: 'object',
    maxProperties: TEXTS_SHOWN_MAX,
    additionalProperties: { type: 'string', maxLength: TEXT_LENGTH_MAX },
  })
  texts!: Readonly<Record<string, string>>;

  @ApiProperty({ ...YOUR_TURN_URL, type: String, format: 'uri' })
  your_turn_url!: string | null;

  @ApiProperty({ ...CONTACT, type: String })
  contact!: string | null;

  @ApiProperty({ ...SHOWS_INVITER, example: false })
  shows_inviter!: boolean;

  @ApiProperty({
    ...openEnum(CONTACT_DETAILS),
    description: 'The contact data that a signup must have, from `required_contact`.',
    example: 'EMAIL',
  })
  required_contact_detail!: ContactDetail;

  @ApiProperty({ description: 'Whether people verify their email: `verification` is not off.', example: false })
  uses_signup_verification!: boolean;

  @ApiProperty({ description: 'The same as `uses_signup_verification`.', example: false })
  uses_waiter_verification!: boolean;

  @ApiProperty({ description: 'Always false. Existing pages read it.', example: false })
  redirects_to_status_page!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 36,
    description: 'Always null. Existing pages read it.',
    example: null,
  })
  organization_uuid_fk!: string | null;

  static of({ display, requiredContact, verification }: Waitlist): DisplayDto {
    const usesVerification = verification !== 'off';
    const shown = wholeDisplay(display);
    return {
      title: shown.title,
      success_title: shown.success_title,
      signup_button_title: shown.signup_button_title,
      logo: shown.logo,
      configuration_style_json: shown.configuration_style_json,
      uses_firstname_lastname: shown.uses_firstname_lastname,
      uses_leaderboard: shown.uses_leaderboard,
      leaderboard_length: shown.leaderboard_length,
      remove_widget_headers: shown.remove_widget_headers,
      widget_shows_social_links: shown.widget_shows_social_links,
      twitter_message: shown.twitter_message,
      lang: shown.lang,
      texts: shown.texts,
      your_turn_url: shown.your_turn_url,
      contact: shown.contact,
      shows_inviter: shown.shows_inviter,
      required_contact_detail: contactDetail(requiredContact),
      uses_signup_verification: usesVerification,
      uses_waiter_verification: usesVerification,
      redirects_to_status_page: false,
      organization_uuid_fk: null,
    };
  }
}

/** The fields of {@link DisplayDto} that follow from others or never change. */
export const DERIVED_DISPLAY = [
  'required_contact_detail',
  'uses_signup_verification',
  'uses_waiter_verification',
  'redirects_to_status_page',
  'organization_uuid_fk',
] as const satisfies readonly (keyof DisplayDto)[];

export function wholeDisplay(display: Partial<Display>): Display {
  return { ...DISPLAY_DEFAULTS, ...display };
}

/** Whether Intl accepts the tag: it writes the numbers. */
function langFault(tag: string) {
  try {
    Intl.getCanonicalLocales(tag);
    return null;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return broken('format', 'must be a BCP 47 language tag, such as en or pt-BR');
  }
}

function contactFault(contact: string) {
  const isContact = contact.startsWith('https://')
    ? isHttpUrl(contact)
    : isTrimmed(contact) && emailKey(contact) !== null;
  return isContact ? null : broken('format', 'must be an email address or an https URL');
}

function isTrimmed(text: string): boolean {
  return text === text.trim();
}

function contactDetail({ email, phone }: RequiredContact): ContactDetail {
  if (phone === 'required') return email === 'required' ? 'EMAIL_AND_PHONE' : 'PHONE';
  return email === 'off' ? 'PHONE' : 'EMAIL';
}
