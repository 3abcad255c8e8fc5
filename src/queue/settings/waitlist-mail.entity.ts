import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { WordedMail } from './mail-words.js';

/** The owner's words of one kind of mail. */
@Entity('waitlist_mail')
export class WaitlistMailEntity {
  @PrimaryColumn({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  @PrimaryColumn({ type: 'varchar' })
  kind!: WordedMail;

  @Column({ type: 'varchar', nullable: true })
  subject!: string | null;

  @Column({ type: 'varchar', nullable: true })
  text!: string | null;
}
