import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { withAdmin } from './admin-client.js';
import { readAdminUrl } from './environment.js';

/** Options of {@link createTestDatabase}. */
export interface TestDatabaseOptions {
  /** Name of the kind of database, such as the service's. */
  readonly template: string;
  /** Directory whose content decides whether a template made earlier can be used again. */
  readonly migrationsDir: string;
  /** Brings an empty database to the state that each test starts from; must close its connections. */
  readonly migrate: (url: string) => Promise<void>;
  /** The server to use instead of the test run's own. */
  readonly adminUrl?: string;
}

/** A database for one caller only. */
export interface TestDatabase {
  readonly url: string;
  /** Closes the remaining connections and removes the database. */
  drop(): Promise<void>;
}

const OBJECT_IN_USE = '55006';
const BUSY_TIMEOUT_MS = 15_000;
const SESSION_END_TIMEOUT_MS = 1_000;

/**
 * Creates a database for the caller by cloning a migrated template.
 *
 * The first worker that needs the template builds it, and the others wait. It receives its final name in the last step,
 * so that a failed build is never mistaken for a template.
 */
export async function createTestDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  const adminUrl = options.adminUrl ?? readAdminUrl();
  const template = `test_template_${options.template}_${await hashDirectory(options.migrationsDir)}`;
  const name = `test_${options.template}_${randomBytes(6).toString('hex')}`;
  await withAdmin(adminUrl, async (admin) => {
    await buildTemplateOnce(admin, template, adminUrl, options.migrate);
    await whenFree(() => admin.query(`create database ${quote(name)} template ${quote(template)}`));
  });
  return {
    url: databaseUrl(adminUrl, name),
    drop: () =>
      withAdmin(adminUrl, async (admin) => {
        await waitForSessions(admin, name);
        await admin.query(`drop database if exists ${quote(name)} with (force)`);
      }),
  };
}

async function buildTemplateOnce(
  admin: pg.Client,
  template: string,
  adminUrl: string,
  migrate: (url: string) => Promise<void>,
): Promise<void> {
  if (await exists(admin, template)) return;
  // The lock belongs to this connection and ends with it, whatever happens to the build.
  await admin.query('select pg_advisory_lock(hashtextextended($1, 0))', [template]);
  try {
    if (await exists(admin, template)) return;
    const draft = `${template}_draft`;
    await admin.query(`drop database if exists ${quote(draft)} with (force)`);
    await admin.query(`create database ${quote(draft)} template template0`);
    await migrate(databaseUrl(adminUrl, draft));
    // A template that accepts no connections cannot be in use when it is cloned.
    await admin.query(`alter database ${quote(draft)} allow_connections false`);
    await whenFree(() => admin.query(`alter database ${quote(draft)} rename to ${quote(template)}`));
  } finally {
    await admin.query('select pg_advisory_unlock(hashtextextended($1, 0))', [template]);
  }
}

async function exists(admin: pg.Client, name: string): Promise<boolean> {
  const { rowCount } = await admin.query('select from pg_database where datname = $1', [name]);
  return rowCount === 1;
}

// The server keeps the session of a closed connection for a moment.
async function whenFree(statement: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      await statement();
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== OBJECT_IN_USE || Date.now() > deadline) throw error;
      await delay(50);
    }
  }
}

/**
 * Waits until the sessions that are ending have ended. Forced out, they would send their client an error that nobody
 * listens for any more.
 */
async function waitForSessions(admin: pg.Client, name: string): Promise<void> {
  const deadline = Date.now() + SESSION_END_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const { rowCount } = await admin.query('select from pg_stat_activity where datname = $1 limit 1', [name]);
    if (rowCount === 0) return;
    await delay(20);
  }
}

async function hashDirectory(directory: string): Promise<string> {
  const hash = createHash('sha256');
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.toSorted())
    hash.update(`${file.slice(directory.length)}\0`).update(await readFile(file));
  return hash.digest('hex').slice(0, 12);
}

function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

function quote(identifier: string): string {
  return pg.escapeIdentifier(identifier);
}
