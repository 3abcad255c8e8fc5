import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** An owner's account: someone who owns waitlists. */
@Entity('account')
export class AccountEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: number;

  @Column({ type: 'varchar' })
  uuid!: string;

  @Column({ type: 'varchar' })
  email!: string;

  @Column({ name: 'email_key', type: 'varchar' })
  emailKey!: string;

  @Column({ name: 'password_hash', type: 'varchar' })
  passwordHash!: string;

  /** Copied into each login. Incrementing it ends all earlier logins in one write. */
  @Column({ name: 'token_version', type: 'int' })
  tokenVersion!: number;

  @Column({ name: 'disabled_at', type: 'datetime', precision: 3, nullable: true })
  disabledAt!: Date | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
