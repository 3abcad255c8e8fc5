import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ReleaseRun } from './release-run.js';

/** A run of a release plan, and the process that carries it out. */
@Entity('release_run')
export class ReleaseRunEntity implements ReleaseRun {
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  @Column({ type: 'varchar' })
  state!: ReleaseRun['state'];

  @Column({ name: 'planned_at', type: 'datetime', precision: 3 })
  plannedAt!: Date;

  @Column({ name: 'ran_at', type: 'datetime', precision: 3, nullable: true })
  ranAt!: Date | null;

  @Column({ type: 'int' })
  count!: number;

  @Column({ type: 'int' })
  offered!: number;

  @Column({ type: 'int' })
  pieces!: number;

  @Column({ name: 'member_id', type: 'varchar', nullable: true })
  memberId!: string | null;

  /** The process that carries it out; null if none does. */
  @Column({ type: 'varchar', nullable: true })
  runner!: string | null;

  /** The last heartbeat of that process. */
  @Column({ name: 'heartbeat_at', type: 'datetime', precision: 3, nullable: true })
  heartbeatAt!: Date | null;
}
