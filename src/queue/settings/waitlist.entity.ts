import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { FraudRules } from '../../fraud/fraud-rules.js';
import type { OfferRules } from './offer-rules.js';
import type { SavedPlan } from './release-plan.js';

export const REQUIREMENTS = ['required', 'optional', 'off'] as const;
export type Requirement = (typeof REQUIREMENTS)[number];

/** Which contact data a signup must have, may have, or does not keep. */
export interface RequiredContact {
  readonly email: Requirement;
  readonly phone: Requirement;
  readonly first_name: Requirement;
  readonly last_name: Requirement;
}

/** A question at signup; `options` null asks for free text. */
export interface Question {
  /** Unique within the waitlist and never given again, so that answers stay with a question that is renamed. */
  readonly id: number;
  readonly text: string;
  readonly optional: boolean;
  readonly options: readonly string[] | null;
}

/** Whether people verify their email: never, for their referrer's credit, or for their position too. */
export const VERIFICATIONS = ['off', 'optional', 'required'] as const;
export type Verification = (typeof VERIFICATIONS)[number];

export const CAPTCHA_PROVIDERS = ['turnstile', 'hcaptcha'] as const;
/** What a token that its provider did not judge does to the credit of a referral. */
export const WHEN_UNAVAILABLE = ['withhold', 'accept'] as const;

/** The captcha that a signup needs, by the names of its fields in the API; its secret is a column of its own. */
export interface Captcha {
  readonly provider: (typeof CAPTCHA_PROVIDERS)[number];
  readonly site_key: string;
  readonly when_unavailable: (typeof WHEN_UNAVAILABLE)[number];
}

/** What pages show, by the names of its fields in the API. */
export interface Display {
  readonly title: string | null;
  readonly success_title: string | null;
  readonly signup_button_title: string | null;
  readonly logo: string | null;
  readonly configuration_style_json: Readonly<Record<string, unknown>>;
  readonly uses_firstname_lastname: boolean;
  readonly uses_leaderboard: boolean;
  readonly leaderboard_length: number;
  readonly remove_widget_headers: boolean;
  readonly widget_shows_social_links: boolean;
  readonly twitter_message: string | null;
  /** BCP 47. */
  readonly lang: string;
  /** The owner's texts, by `OWN_TEXT_KEYS` of web/page/own-texts.ts. */
  readonly texts: Readonly<Record<string, string>>;
  readonly your_turn_url: string | null;
  /** An email or an https URL. */
  readonly contact: string | null;
  readonly shows_inviter: boolean;
  readonly frame_origins: readonly string[];
}

/**
 * A waitlist's settings and the state of its queue. The row is the lock of the queue. Only the queue module changes the
 * state.
 */
@Entity('waitlist')
export class WaitlistEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: number;

  @Column({ name: 'account_id', type: 'bigint' })
  accountId!: number;

  /** SHA-256 of the key, in hexadecimal: the key has 160 random bits, so it needs no slow hash. */
  @Column({ name: 'api_key_hash', type: 'varchar' })
  apiKeyHash!: string;

  /** Names the waitlist in pages, beside its id. It opens nothing that is not public. */
  @Column({ name: 'public_key', type: 'varchar' })
  publicKey!: string;

  /** The page's name in its address; null if the address has the id. */
  @Column({ type: 'varchar', nullable: true })
  slug!: string | null;

  @Column({ type: 'varchar' })
  name!: string;

  /** The page where people sign up; null for the hosted page of the service. */
  @Column({ name: 'waitlist_url_location', type: 'varchar', nullable: true })
  urlLocation!: string | null;

  @Column({ name: 'required_contact', type: 'simple-json' })
  requiredContact!: RequiredContact;

  /** ISO 3166-1 alpha-2: the country of phone numbers without a country code. */
  @Column({ name: 'default_region', type: 'varchar', nullable: true })
  defaultRegion!: string | null;

  /** The live questions, in order. */
  @Column({ type: 'simple-json' })
  questions!: Question[];

  /** Earlier questions. Their ids and answers remain. */
  @Column({ name: 'removed_questions', type: 'simple-json' })
  removedQuestions!: Question[];

  /** Refuses newcomers; existing records are found as before. */
  @Column({ name: 'is_closed', type: 'boolean' })
  isClosed!: boolean;

  /** Whether the public view exists. */
  @Column({ name: 'is_public', type: 'boolean' })
  isPublic!: boolean;

  /** The settings that differ from their defaults, or did once. */
  @Column({ type: 'simple-json' })
  display!: Partial<Display>;

  /** Whether the public view leaves out the number of signups. */
  @Column({ name: 'hide_counts', type: 'boolean' })
  hidesCounts!: boolean;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  /** How many positions a record moves up for each referral. */
  @Column({ name: 'spots_per_referral', type: 'int' })
  spotsPerReferral!: number;

  /** `seq` of the next record. */
  @Column({ name: 'next_seq', type: 'bigint' })
  nextSeq!: number;

  /** How many records are active. */
  @Column({ type: 'bigint' })
  active!: number;

  /** How many records were offboarded. */
  @Column({ type: 'bigint' })
  offboarded!: number;

  /** How many records have an open offer. */
  @Column({ type: 'bigint' })
  offered!: number;

  /** The offered records, and those that accepted their offer. */
  @Column({ name: 'seats_taken', type: 'bigint' })
  seatsTaken!: number;

  /** How many of the active records were referred by another. */
  @Column({ name: 'referred_active', type: 'bigint' })
  referredActive!: number;

  @Column({ name: 'referred_offered', type: 'bigint' })
  referredOffered!: number;

  @Column({ name: 'referred_offboarded', type: 'bigint' })
  referredOffboarded!: number;

  @Column({ type: 'varchar' })
  verification!: Verification;

  @Column({ type: 'simple-json' })
  fraud!: FraudRules;

  @Column({ type: 'simple-json', nullable: true })
  captcha!: Captcha | null;

  /** Encrypted; null without a captcha. */
  @Column({ name: 'sealed_captcha_secret', type: 'varchar', nullable: true })
  sealedCaptchaSecret!: string | null;

  /** The rules of offers that were set; null if none were. */
  @Column({ type: 'simple-json', nullable: true })
  offers!: Partial<OfferRules> | null;

  /** Whether people get a mail when they are offboarded. */
  @Column({ name: 'mail_on_offboarding', type: 'boolean' })
  mailOnOffboarding!: boolean;

  /** Whether people get a mail when they first enter the queue. */
  @Column({ name: 'mail_on_signup', type: 'boolean' })
  mailOnSignup!: boolean;

  /** Null without a plan. */
  @Column({ name: 'release_plan', type: 'simple-json', nullable: true })
  releasePlan!: SavedPlan | null;

  /** Pending records so far; the next one's `seq` is the number below the negative of this. */
  @Column({ name: 'next_pending', type: 'bigint' })
  nextPending!: number;

  /** The number of the next event for webhooks. */
  @Column({ name: 'next_event', type: 'bigint' })
  nextEvent!: number;

  /** How often the state of the queue was stored. */
  @Column({ type: 'bigint', insert: false, update: false, select: false })
  revision?: number;
}
