import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fixture } from '../../runner/fixture.js';
import { execute } from '../../servers/service.js';

/* The maintenance of a database beside serving from it. */

/** The rows of each kind: those of an installation that is large for one PostgreSQL, or a tenth of them. */
export function sizes({ isFull }: Pick<Fixture, 'isFull'>) {
  const share = isFull ? 1 : 0.1;
  return {
    organisations: 100 * share,
    /** Of each organisation. */
    members: 10_000,
    /** Of each organisation. */
    tokens: 100_000,
    schedules: 1_000_000 * share,
    /** The schedules that are due in the same second. */
    due: 100_000 * share,
    mails: 10_000_000 * share,
    /** The rows that the retention finds. */
    ended: 10_000,
  };
}

async function queryOne<T>(databaseUrl: string, text: string, values: unknown[] = []): Promise<T> {
  const result = await execute(databaseUrl, [text, values]);
  return result?.rows[0] as T;
}

/** @returns MiB for a million rows, indexes included. @param tables - the first is the one whose rows are counted. */
export async function measureMibPerMillion(databaseUrl: string, tables: readonly string[]): Promise<number> {
  const { bytes, rows } = await queryOne<{ bytes: string; rows: string }>(
    databaseUrl,
    `select (select sum(pg_total_relation_size(name::regclass)) from unnest($1::text[]) name) as bytes,
       (select count(*) from ${tables[0]}) as rows`,
    [tables],
  );
  return ((Number(bytes) / 2 ** 20) * 1e6) / Number(rows);
}

async function time(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await act();
  return (performance.now() - startedAt) / 1_000;
}

/** Measures the vacuum of a table after a hundredth of its rows was rewritten. @returns seconds. */
export async function measureVacuum(
  { progress }: Fixture,
  databaseUrl: string,
  table: string,
  column: string,
): Promise<number> {
  progress(`vacuum of ${table}`);
  await execute(databaseUrl, [
    `update ${table} set ${column} = ${column} where ctid = any(array(select ctid from ${table} tablesample system (1)))`,
  ]);
  return time(() => execute(databaseUrl, [`vacuum (analyze) ${table}`]));
}

/**
 * Measures a backup of the database as the operations guide has it, without a disk. NaN for both where there is no
 * `pg_dump` as new as the server.
 */
export async function measureBackup({ progress }: Fixture, databaseUrl: string) {
  progress('backup');
  const dump = spawn('pg_dump', ['-Fc', '-d', databaseUrl], { stdio: ['ignore', 'pipe', 'ignore'] });
  let bytes = 0;
  dump.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length));
  const ended = new Promise<boolean>((resolve) => {
    dump.once('error', () => resolve(false));
    dump.once('close', (code) => resolve(code === 0));
  });
  let isDone = false;
  const seconds = await time(async () => (isDone = await ended));
  return isDone ? { seconds, mib: bytes / 2 ** 20 } : { seconds: Number.NaN, mib: Number.NaN };
}

/** Waits until the retention of the service has left no row that matches. */
export async function waitUntilDeleted({ progress }: Fixture, databaseUrl: string, rows: string) {
  progress('retention');
  const isLeft = () =>
    queryOne<{ left: boolean }>(databaseUrl, `select exists (select from ${rows}) as "left"`);
  while ((await isLeft()).left) await delay(200);
}
