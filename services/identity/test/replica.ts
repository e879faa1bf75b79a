import { type Answer, type CallOptions, callUrl } from '@platform/testing';
import { start } from './identity.js';

/** Starts another replica of a service on the same database, as after a restart. */
export async function startReplica(databaseUrl: string, environment: NodeJS.ProcessEnv = {}) {
  const { url, advance, shutdown, logged } = await start(databaseUrl, environment);
  return {
    url,
    /** Moves this replica's clock. */
    advance,
    logged,
    call: (method: string, path: string, options?: CallOptions): Promise<Answer> =>
      callUrl(url + path, method, options),
    close: () => shutdown.run('test done'),
  };
}
