import type { DataSource } from 'typeorm';

/** The database has a schema that this version of the code cannot use, or its server is not supported. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** What a server reports about itself and the tables of the database. */
export interface ServerFacts {
  readonly version: string;
  readonly comment: string;
  /** The engine of new tables. */
  readonly defaultEngine: string;
  /** A table that is not stored by InnoDB, if there is one. */
  readonly strayTable: string | null;
  readonly strayEngine: string | null;
}

/** @throws SchemaError if the database cannot keep the guarantees of the queue */
export async function requireSupported(dataSource: DataSource): Promise<void> {
  const [facts] = await dataSource.query<[ServerFacts]>(
    `SELECT VERSION() AS version, @@version_comment AS comment, @@default_storage_engine AS defaultEngine,
       t.table_name AS strayTable, t.engine AS strayEngine
     FROM (SELECT 1) one LEFT JOIN information_schema.tables t
       ON t.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' AND t.engine <> 'InnoDB' LIMIT 1`,
  );
  const reason = reasonToRefuse(facts);
  if (reason !== null) throw new SchemaError(`DATABASE_URL: ${reason}`);
}

/** Source: docs/decisions/shards.md. */
export function reasonToRefuse({ version, comment, ...engines }: ServerFacts): string | null {
  const [other] = /TiDB|Vitess/i.exec(`${version} ${comment}`) ?? [];
  if (other) return `${other} is not supported, because it does not lock rows as MySQL does. Use MySQL or MariaDB.`;
  const { strayTable, strayEngine, defaultEngine } = engines;
  if (strayTable !== null)
    return `the table ${strayTable} is stored by ${strayEngine}. Use a database whose tables are all InnoDB.`;
  if (defaultEngine === 'InnoDB') return null;
  return `the server stores new tables in ${defaultEngine}. Set its default_storage_engine to InnoDB.`;
}
