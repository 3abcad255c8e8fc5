import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

export const REQUIREMENTS = ['required', 'optional', 'off'] as const;
export type Requirement = (typeof REQUIREMENTS)[number];

/** What a person must give, may give, or is not asked for. */
export interface RequiredContact {
  readonly email: Requirement;
  readonly phone: Requirement;
  readonly first_name: Requirement;
  readonly last_name: Requirement;
}

/** A question at signup; `options` null asks for free text. */
export interface Question {
  readonly text: string;
  readonly optional: boolean;
  readonly options: readonly string[] | null;
}

/** What an owner configured. Its line is kept by the queue. */
@Entity('waitlist')
export class WaitlistEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: number;

  @Column({ name: 'account_id', type: 'bigint' })
  accountId!: number;

  /** SHA-256 of the key, in hexadecimal: the key has 160 random bits, so it needs no slow hash. */
  @Column({ name: 'api_key_hash', type: 'varchar' })
  apiKeyHash!: string;

  @Column({ name: 'waitlist_name', type: 'varchar' })
  name!: string;

  @Column({ name: 'waitlist_url_location', type: 'varchar' })
  urlLocation!: string;

  @Column({ name: 'required_contact', type: 'simple-json' })
  requiredContact!: RequiredContact;

  /** ISO 3166-1 alpha-2: where a phone number without a country code is from. */
  @Column({ name: 'default_region', type: 'varchar', nullable: true })
  defaultRegion!: string | null;

  @Column({ type: 'simple-json' })
  questions!: Question[];

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
