import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, dropIndex } from '../dialect.js';

export class CreateQueue1763683200201 implements MigrationInterface {
  readonly name = 'CreateQueue1763683200201';

  async up(queryRunner: QueryRunner): Promise<void> {
    const is = columnTypes(queryRunner);
    await queryRunner.query(`
      CREATE TABLE queue (
        waitlist_id ${is.id} NOT NULL PRIMARY KEY,
        next_seq ${is.id} NOT NULL,
        spots_per_referral INT NOT NULL,
        active ${is.id} NOT NULL,
        offboarded ${is.id} NOT NULL,
        referred_active ${is.id} NOT NULL,
        referred_offboarded ${is.id} NOT NULL
      )${is.tableOptions}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE queue');
  }
}

export class CreateWaiter1763683200202 implements MigrationInterface {
  readonly name = 'CreateWaiter1763683200202';

  async up(queryRunner: QueryRunner): Promise<void> {
    const is = columnTypes(queryRunner);
    await queryRunner.query(`
      CREATE TABLE waiter (
        id ${is.generatedId},
        waitlist_id ${is.id} NOT NULL,
        seq ${is.id} NOT NULL,
        uuid ${is.code(36)} NOT NULL,
        email ${is.text(254)} NULL,
        email_key ${is.key(512)} NULL,
        registered_email ${is.text(254)} NULL,
        phone ${is.text(32)} NULL,
        phone_key ${is.code(32)} NULL,
        first_name ${is.text(100)} NULL,
        last_name ${is.text(100)} NULL,
        metadata ${is.json} NULL,
        answers ${is.json} NULL,
        referral_token ${is.code(12)} NOT NULL,
        referred_by_token ${is.code(12)} NULL,
        referred ${is.flag} NOT NULL,
        amount_referred ${is.id} NOT NULL DEFAULT 0,
        credited_referrals ${is.id} NOT NULL DEFAULT 0,
        spots_advanced ${is.id} NOT NULL DEFAULT 0,
        rank_key ${is.id} NOT NULL,
        rank_bucket ${is.id} GENERATED ALWAYS AS (rank_key >> 5) STORED,
        active ${is.flag} NOT NULL DEFAULT 1,
        verified ${is.flag} NOT NULL DEFAULT 0,
        removed_at ${is.time} NULL,
        removed_priority ${is.id} NULL,
        removed_by ${is.code(36)} NULL,
        created_at ${is.time} NOT NULL
      )${is.tableOptions}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE waiter');
  }
}

/** The order of the line; the narrowest bucket stands first so that it is found by equality, in correlated queries too. */
export class IndexWaiterOrder1763683200203 implements MigrationInterface {
  readonly name = 'IndexWaiterOrder1763683200203';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'CREATE INDEX waiter_order ON waiter (waitlist_id, active, rank_bucket, rank_key, seq DESC)',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'waiter', 'waiter_order'));
  }
}

/** The active, or the offboarded, in join order. */
export class IndexWaiterJoined1763683200204 implements MigrationInterface {
  readonly name = 'IndexWaiterJoined1763683200204';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX waiter_joined ON waiter (waitlist_id, active, seq)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'waiter', 'waiter_joined'));
  }
}

/** Those whom anyone referred, in join order. */
export class IndexWaiterReferred1763683200205 implements MigrationInterface {
  readonly name = 'IndexWaiterReferred1763683200205';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX waiter_referred ON waiter (waitlist_id, referred, active, seq)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'waiter', 'waiter_referred'));
  }
}

/** Those whom one record referred, in join order. */
export class IndexWaiterReferrer1763683200206 implements MigrationInterface {
  readonly name = 'IndexWaiterReferrer1763683200206';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX waiter_referrer ON waiter (waitlist_id, referred_by_token, active, seq)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'waiter', 'waiter_referrer'));
  }
}

/** Those who referred, whom a change of what a referral is worth moves. */
export class IndexWaiterCredited1763683200207 implements MigrationInterface {
  readonly name = 'IndexWaiterCredited1763683200207';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX waiter_credited ON waiter (waitlist_id, credited_referrals)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'waiter', 'waiter_credited'));
  }
}

/** The order of joining, dense. */
export class IndexWaiterSeq1763683200208 implements MigrationInterface {
  readonly name = 'IndexWaiterSeq1763683200208';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE UNIQUE INDEX waiter_seq ON waiter (waitlist_id, seq)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'waiter', 'waiter_seq'));
  }
}

/** One record an email. */
export class IndexWaiterEmail1763683200209 implements MigrationInterface {
  readonly name = 'IndexWaiterEmail1763683200209';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE UNIQUE INDEX waiter_email ON waiter (waitlist_id, email_key)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'waiter', 'waiter_email'));
  }
}

/** One record a phone. */
export class IndexWaiterPhone1763683200210 implements MigrationInterface {
  readonly name = 'IndexWaiterPhone1763683200210';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE UNIQUE INDEX waiter_phone ON waiter (waitlist_id, phone_key)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'waiter', 'waiter_phone'));
  }
}

/** Tokens are unique over the service. */
export class IndexWaiterToken1763683200211 implements MigrationInterface {
  readonly name = 'IndexWaiterToken1763683200211';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE UNIQUE INDEX waiter_token ON waiter (referral_token)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'waiter', 'waiter_token'));
  }
}
