import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from '../dialect.js';

export class CreateClosedQueue1763710000001 implements MigrationInterface {
  readonly name = 'CreateClosedQueue1763710000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    const is = columnTypes(queryRunner);
    await queryRunner.query(`
      CREATE TABLE closed_queue (
        waitlist_id ${is.id} NOT NULL PRIMARY KEY
      )${is.tableOptions}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE closed_queue');
  }
}
