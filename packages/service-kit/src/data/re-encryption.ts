import type pg from 'pg';
import { ConfigError } from '../config/config.js';
import type { SecretBox } from './secret-box.js';

type Row = Readonly<Record<string, string>>;

/** A column whose values are sealed with `ENCRYPTION_KEYS`. */
export interface SealedColumn {
  readonly table: string;
  /** The columns of the primary key, in its order, with their types. */
  readonly key: Readonly<Record<string, 'uuid' | 'text' | 'integer'>>;
  readonly column: string;
  /** Other columns that the context names. */
  readonly with?: readonly string[];
  /** Whether the values are bytes; otherwise they are text. */
  readonly isBytes?: boolean;
  /** Returns what a value is sealed for, by its row's columns as text. */
  readonly toContext: (row: Row) => string;
}

interface SealedRow {
  readonly columns: Row;
  readonly sealed: string | Buffer;
}

const PAGE = 500;
/** Pieces of attachments are 1 MiB each. */
const PAGE_OF_BYTES = 20;

/** Finds the next values that another key than the first has sealed, in the order of the primary key. */
async function findOthers(
  db: pg.Pool,
  { table, key, column, with: others = [], isBytes = false }: SealedColumn,
  prefix: string,
  after: Row | undefined,
): Promise<SealedRow[]> {
  const names = Object.keys(key);
  const isOther = isBytes
    ? `substring(${column} from 1 for ${prefix.length}) <> convert_to($1, 'UTF8')`
    : `not starts_with(${column}, $1)`;
  const position = Object.entries(key).map(([, type], index) => `$${index + 2}::${type}`);
  const { rows } = await db.query<Record<string, string> & { readonly sealed: string | Buffer }>(
    `select ${[...names, ...others].map((name) => `${name}::text`).join(', ')}, ${column} as sealed from ${table}
     where ${column} is not null and ${isOther}
       ${after ? `and (${names.join(', ')}) > (${position.join(', ')})` : ''}
     order by ${names.map((name) => `${table}.${name}`).join(', ')} limit ${isBytes ? PAGE_OF_BYTES : PAGE}`,
    [prefix, ...(after ? names.map((name) => after[name]) : [])],
  );
  return rows.map(({ sealed, ...columns }) => ({ columns, sealed }));
}

/** @returns false when the value has changed since it was read: the change has sealed it with the first key already. */
async function replace(
  db: pg.Pool,
  { table, key, column }: SealedColumn,
  { columns, sealed }: SealedRow,
  resealed: string | Buffer,
): Promise<boolean> {
  const isRow = Object.entries(key).map(([name, type], index) => `${name} = $${index + 3}::${type}`);
  const { rowCount } = await db.query(
    `update ${table} set ${column} = $1 where ${column} = $2 and ${isRow.join(' and ')}`,
    [resealed, sealed, ...Object.keys(key).map((name) => columns[name])],
  );
  return rowCount === 1;
}

/** @throws Error when no key opens it. */
function reseal(box: SecretBox, sealed: string | Buffer, context: string): string | Buffer {
  return typeof sealed === 'string'
    ? box.seal(box.open(sealed, context), context)
    : box.sealBytes(box.openBytes(sealed, context), context);
}

/**
 * Re-encrypts every value that isn't sealed with the first of `ENCRYPTION_KEYS`, while the service runs. It can be
 * interrupted and run again.
 *
 * @param sealed - the columns, by the name of what they hold.
 * @returns how many values were re-encrypted, by name.
 * @throws ConfigError when a value can't be opened; the values before it stay re-encrypted.
 */
export async function reencryptAll(
  db: pg.Pool,
  box: SecretBox,
  sealed: Readonly<Record<string, SealedColumn>>,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [name, column] of Object.entries(sealed)) {
    counts[name] = 0;
    let page = await findOthers(db, column, box.prefix, undefined);
    while (page.length > 0) {
      for (const value of page) {
        let resealed: string | Buffer;
        try {
          resealed = reseal(box, value.sealed, column.toContext(value.columns));
        } catch {
          const row = Object.keys(column.key).map((part) => value.columns[part]);
          throw new ConfigError([
            `ENCRYPTION_KEYS must hold the key that sealed the ${name} (row ${row.join(' ')})`,
          ]);
        }
        if (await replace(db, column, value, resealed)) counts[name] += 1;
      }
      page = await findOthers(db, column, box.prefix, page.at(-1)?.columns);
    }
  }
  return counts;
}
