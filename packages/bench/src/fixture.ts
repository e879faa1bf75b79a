import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@platform/embedded';

interface Server {
  stop(): unknown;
}

/** What every fixture begins with. */
export interface FixtureBase {
  /** A temporary folder. */
  readonly folder: string;
  readonly postgres: EmbeddedPostgres;
  /** Has a server stopped with the fixture. @returns the server. */
  keep<T extends Server>(server: T): T;
}

/**
 * Starts PostgreSQL and what a suite needs besides. When one of them fails, the others are stopped.
 *
 * @param settings - PostgreSQL's settings.
 * @returns what `start` returns, with a function that stops everything in reverse order.
 */
export async function openFixture<T extends object>(
  start: (base: FixtureBase) => Promise<T>,
  settings: Readonly<Record<string, string>> = {},
): Promise<T & { stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  const servers: Server[] = [];
  const keep = <Kept extends Server>(server: Kept): Kept => {
    servers.push(server);
    return server;
  };
  const stop = async () => {
    for (const server of servers.splice(0).toReversed()) await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const postgres = await startEmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      // An fsync per commit would measure the disk. Everything else is configured as in production.
      settings: { synchronous_commit: 'off', ...settings },
      isTemporary: true,
    });
    keep(postgres);
    return { ...(await start({ folder, postgres, keep })), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
