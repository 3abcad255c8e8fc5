import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, dropIndex } from '../dialect.js';

export class CreateWaitlist1763683200101 implements MigrationInterface {
  readonly name = 'CreateWaitlist1763683200101';

  async up(queryRunner: QueryRunner): Promise<void> {
    const is = columnTypes(queryRunner);
    await queryRunner.query(`
      CREATE TABLE waitlist (
        id ${is.generatedId},
        account_id ${is.id} NOT NULL,
        api_key_hash ${is.code(64)} NOT NULL UNIQUE,
        waitlist_name ${is.text(200)} NOT NULL,
        waitlist_url_location ${is.text(2048)} NOT NULL,
        required_contact ${is.json} NOT NULL,
        default_region ${is.code(2)} NULL,
        questions ${is.json} NOT NULL,
        created_at ${is.time} NOT NULL
      )${is.tableOptions}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE waitlist');
  }
}

export class IndexWaitlistAccount1763683200102 implements MigrationInterface {
  readonly name = 'IndexWaitlistAccount1763683200102';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX waitlist_account ON waitlist (account_id)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'waitlist', 'waitlist_account'));
  }
}
