import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, dropIndex } from '../dialect.js';

export class CreateAccount1763683200001 implements MigrationInterface {
  readonly name = 'CreateAccount1763683200001';

  async up(queryRunner: QueryRunner): Promise<void> {
    const is = columnTypes(queryRunner);
    await queryRunner.query(`
      CREATE TABLE account (
        id ${is.generatedId},
        uuid ${is.code(36)} NOT NULL UNIQUE,
        email ${is.text(254)} NOT NULL,
        email_key ${is.key(512)} NOT NULL UNIQUE,
        password_hash ${is.code(255)} NOT NULL,
        token_version INT NOT NULL DEFAULT 0,
        disabled_at ${is.time} NULL,
        created_at ${is.time} NOT NULL
      )${is.tableOptions}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE account');
  }
}

export class CreateRefreshToken1763683200002 implements MigrationInterface {
  readonly name = 'CreateRefreshToken1763683200002';

  async up(queryRunner: QueryRunner): Promise<void> {
    const is = columnTypes(queryRunner);
    await queryRunner.query(`
      CREATE TABLE refresh_token (
        id ${is.code(36)} NOT NULL PRIMARY KEY,
        family_id ${is.code(36)} NOT NULL,
        account_id ${is.id} NOT NULL,
        issued_at ${is.time} NOT NULL,
        expires_at ${is.time} NOT NULL,
        family_expires_at ${is.time} NOT NULL,
        used_at ${is.time} NULL,
        successor_id ${is.code(36)} NULL,
        revoked_at ${is.time} NULL
      )${is.tableOptions}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE refresh_token');
  }
}

export class IndexRefreshTokenFamily1763683200003 implements MigrationInterface {
  readonly name = 'IndexRefreshTokenFamily1763683200003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX refresh_token_family ON refresh_token (family_id)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'refresh_token', 'refresh_token_family'));
  }
}

export class IndexRefreshTokenExpiry1763683200004 implements MigrationInterface {
  readonly name = 'IndexRefreshTokenExpiry1763683200004';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX refresh_token_expiry ON refresh_token (family_expires_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(dropIndex(queryRunner, 'refresh_token', 'refresh_token_expiry'));
  }
}
