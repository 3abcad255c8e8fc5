import type { DataSource, ValueTransformer } from 'typeorm';
import { fromSqlTime, isEmbedded, placeholders, toSqlTime } from './dialect.js';
import { type Query, write } from './session.js';

/**
 * Longer texts go to a server as bytes, which the driver writes in hexadecimal. It escapes text character by character:
 * 16 MB of quotation marks, as one offboarding can store, would block the process for a second.
 */
const QUOTED_TEXT_MAX = 1_024;

type Value = string | number | boolean | Date | null;
export type Row = Readonly<Record<string, Value>>;

interface MappedColumn {
  readonly property: string;
  readonly column: string;
  readonly type: unknown;
  readonly isInserted: boolean;
  readonly transformer: ValueTransformer | undefined;
}

/**
 * The columns of an entity, from TypeORM's metadata, for SQL written by hand: column lists, inserts and rows. TypeORM's
 * query builder took a sixth of a lookup's time.
 */
export class Table<Entity extends object> {
  private readonly name: string;
  private readonly columns: readonly MappedColumn[];
  private readonly isEmbedded: boolean;
  /** Rows are copies of it: to add thirty properties one by one takes twice as long. */
  private readonly blank: Readonly<Record<string, unknown>>;

  constructor(dataSource: DataSource, entity: new () => Entity) {
    const metadata = dataSource.getMetadata(entity);
    this.name = metadata.tableName;
    this.isEmbedded = isEmbedded(dataSource);
    this.columns = metadata.columns
      .filter(({ isSelect }) => isSelect)
      .map(({ propertyName, databaseName, type, isInsert, isGenerated, transformer }) => ({
        property: propertyName,
        column: databaseName,
        type,
        isInserted: isInsert && !isGenerated,
        transformer: transformer as ValueTransformer | undefined,
      }));
    this.blank = Object.fromEntries(this.columns.map(({ property }) => [property, null]));
  }

  /** `w.id, w.seq, …` for the alias `w`. `without` names large columns to leave out; they are read as null. */
  select(alias: string, without: readonly (keyof Entity)[] = []): string {
    return this.list(alias, (property) => !without.includes(property));
  }

  /** Only these columns. The others are read as null. */
  selectOnly(alias: string, properties: readonly (keyof Entity)[]): string {
    return this.list(alias, (property) => properties.includes(property));
  }

  /** One INSERT of all rows. The database generates their ids. */
  insert(entities: readonly Readonly<Omit<Entity, 'id'>>[]): Query<void> {
    const inserted = this.columns.filter(({ isInserted }) => isInserted);
    const row = `(${placeholders(inserted.length)})`;
    return write(
      `INSERT INTO ${this.name} (${inserted.map(({ column }) => column).join(', ')})
       VALUES ${entities.map(() => row).join(', ')}`,
      entities.flatMap((entity) =>
        inserted.map((column) => this.bind((entity as Record<string, unknown>)[column.property], column)),
      ),
    );
  }

  /** Sets the columns of `change`, those that are not undefined, in the row that has the values of `key`. */
  update(key: Partial<Entity>, change: Readonly<Partial<Entity>>): Query<void> {
    const assigned = this.assignments(change);
    const found = this.assignments(key);
    const list = (assignments: typeof found, separator: string) =>
      assignments.map(({ column }) => `${column} = ?`).join(separator);
    return write(`UPDATE ${this.name} SET ${list(assigned, ', ')} WHERE ${list(found, ' AND ')}`, [
      ...assigned.map(({ value }) => value),
      ...found.map(({ value }) => value),
    ]);
  }

  read(row: Row): Entity {
    const entity = { ...this.blank };
    for (const column of this.columns) {
      const value = row[column.column];
      if (value !== undefined) entity[column.property] = fromSql(value, column);
    }
    return entity as Entity;
  }

  private list(alias: string, isListed: (property: keyof Entity) => boolean): string {
    return this.columns
      .filter(({ property }) => isListed(property as keyof Entity))
      .map(({ column }) => `${alias}.${column}`)
      .join(', ');
  }

  private assignments(values: Readonly<Partial<Entity>>): { readonly column: string; readonly value: unknown }[] {
    return this.columns.flatMap((column) => {
      const value = values[column.property as keyof Entity];
      return value === undefined ? [] : [{ column: column.column, value: this.bind(value, column) }];
    });
  }

  private bind(value: unknown, column: MappedColumn): unknown {
    const bound = toSql(value, column);
    const isLong = typeof bound === 'string' && bound.length > QUOTED_TEXT_MAX;
    return isLong && !this.isEmbedded ? Buffer.from(bound) : bound;
  }
}

function toSql(value: unknown, { type, transformer }: MappedColumn): unknown {
  if (transformer) return transformer.to(value);
  if (value === null) return null;
  if (type === 'simple-json') return JSON.stringify(value);
  return value instanceof Date ? toSqlTime(value) : value;
}

function fromSql(value: Value, { type, transformer }: MappedColumn): unknown {
  if (transformer) return transformer.from(value);
  if (value === null) return null;
  if (type === 'simple-json') return JSON.parse(value as string);
  if (type === 'boolean') return value === 1;
  return type === 'datetime' ? fromSqlTime(value as Date | string) : value;
}
