import { Client } from 'pg';
import { LaunchError } from './launch-error.js';

/** Makes the databases that don't exist yet on the server of `url`. */
export async function ensureDatabases(url: string, names: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    const found = await client.query<{ datname: string }>(
      'select datname from pg_database where datname = any($1)',
      [names],
    );
    const existing = new Set(found.rows.map((row) => row.datname));
    for (const name of names) {
      if (!existing.has(name)) await client.query(`create database ${client.escapeIdentifier(name)}`);
    }
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

/** The URL of another database on the same server, parameters kept. */
export function urlOfDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
