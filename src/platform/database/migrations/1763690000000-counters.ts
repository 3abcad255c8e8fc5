import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from '../dialect.js';

export class CreateQueueBucket1763690000001 implements MigrationInterface {
  readonly name = 'CreateQueueBucket1763690000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    const is = columnTypes(queryRunner);
    await queryRunner.query(`
      CREATE TABLE queue_bucket (
        waitlist_id ${is.id} NOT NULL,
        axis ${is.flag} NOT NULL,
        level ${is.flag} NOT NULL,
        parent ${is.id} NOT NULL,
        slot ${is.id} NOT NULL,
        amount ${is.id} NOT NULL,
        before_in_parent ${is.id} NOT NULL,
        PRIMARY KEY (waitlist_id, axis, level, parent, slot)
      )${is.tableOptions}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE queue_bucket');
  }
}
