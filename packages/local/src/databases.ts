import { Client } from 'pg';
import { LaunchError } from './launch-error.js';

/**
 * Creates the databases that don't exist yet on the server of `url`.
 *
 * @returns the names of the created databases.
 */
export async function ensureDatabases(url: string, names: readonly string[]): Promise<readonly string[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    const found = await client.query<{ datname: string }>(
      'select datname from pg_database where datname = any($1)',
      [names],
    );
    const existing = new Set(found.rows.map((row) => row.datname));
    const missing = names.filter((name) => !existing.has(name));
    for (const name of missing) await client.query(`create database ${client.escapeIdentifier(name)}`);
    return missing;
  } catch (cause) {
    const { message, code } = cause as Error & { code?: string };
    throw new LaunchError(
      `The database server can't be prepared: ${message || code}. Check --database-url (DATABASE_URL); its user needs ` +
        `the right to create the databases ${names.join(', ')}, or they have to exist.`,
      { cause },
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Returns the URL of another database on the same server, with the same parameters. */
export function urlOfDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
