import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '@platform/testing';
import pg from 'pg';

const run = promisify(execFile);

/** The state of a database at one moment. */
export interface Backup {
  /** Replaces the current content of the database. Nobody may be connected in the meantime. */
  restore(): Promise<void>;
  remove(): Promise<void>;
}

const nameIn = (url: string): string => new URL(url).pathname.slice(1);

/** Runs statements in another database, because a database cannot be dropped or copied from within. */
async function beside(url: string, ...statements: readonly string[]): Promise<void> {
  const server = new URL(url);
  server.pathname = '/postgres';
  const client = new pg.Client({ connectionString: server.href });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Returns whether there is a `pg_dump` for this server: it supports its own version and older ones. */
async function canDump(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
  await client.end();
  const major = Math.floor(Number(rows[0]?.server_version_num) / 10_000);
  const version = await run('pg_dump', ['--version']).catch(() => ({ stdout: '' }));
  return Number(/(\d+)\./.exec(version.stdout)?.[1] ?? 0) >= major;
}

async function dump(url: string): Promise<Backup> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-backup-'));
  const file = join(folder, 'database.dump');
  await run('pg_dump', ['-Fc', '-f', file, '-d', url]);
  return {
    async restore() {
      const name = nameIn(url);
      await beside(url, `drop database "${name}" with (force)`, `create database "${name}"`);
      await run('pg_restore', ['--exit-on-error', '--no-owner', '-d', url, file]);
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

/** Without a recent `pg_dump`, uses PostgreSQL's own copy, which needs exclusive access for a moment. */
async function copyAside(url: string): Promise<Backup> {
  const name = nameIn(url);
  const aside = `${name}_backup`;
  const ends = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
  await beside(url, `alter database "${name}" allow_connections false`);
  try {
    await waitFor(() => beside(url, ends, `create database "${aside}" template "${name}"`).then(() => true), {
      what: 'the copy',
    });
  } finally {
    await beside(url, `alter database "${name}" allow_connections true`);
  }
  return {
    restore: () =>
      beside(url, `drop database "${name}" with (force)`, `create database "${name}" template "${aside}"`),
    remove: () => beside(url, `drop database "${aside}"`),
  };
}

/** Backs up a database while services use it, with `pg_dump` if there is one for the server. */
export const backUp = async (url: string): Promise<Backup> =>
  (await canDump(url)) ? dump(url) : copyAside(url);
