import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** What owns waitlists, webhooks and keys. Its members log in. */
@Entity('account')
export class AccountEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: number;

  @Column({ type: 'varchar' })
  uuid!: string;

  @Column({ type: 'varchar', nullable: true })
  name!: string | null;

  /** Whether a login by password needs a second factor. */
  @Column({ name: 'require_two_factor', type: 'boolean' })
  requireTwoFactor!: boolean;

  /** While it is disabled, no member and no key of it gets in. */
  @Column({ name: 'disabled_at', type: 'datetime', precision: 3, nullable: true })
  disabledAt!: Date | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  /** Written by each change of its members and keys, which so run one by one. */
  @Column({ type: 'bigint' })
  revision!: number;
}
