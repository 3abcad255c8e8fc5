import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, dropIndex } from '../dialect.js';

export class CreateFamiliarOrigin1763700000001 implements MigrationInterface {
  readonly name = 'CreateFamiliarOrigin1763700000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    const is = columnTypes(queryRunner);
    await queryRunner.query(`
      CREATE TABLE familiar_origin (
        id ${is.code(43)} NOT NULL PRIMARY KEY,
        seen_at ${is.time} NOT NULL
      )${is.tableOptions}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE familiar_origin');
  }
}

export class IndexFamiliarOriginSeen1763700000002 implements MigrationInterface {
  readonly name = 'IndexFamiliarOriginSeen1763700000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX familiar_origin_seen ON familiar_origin (seen_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'familiar_origin', 'familiar_origin_seen'));
  }
}
