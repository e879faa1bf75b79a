import type { Options } from '../options.mjs';
import { startDatabase } from './database-server.js';
import { startRedis } from './redis-server.js';

export interface Stores {
  readonly databaseServerUrl: string;
  readonly redisUrl: string | undefined;
}

type StoreContext = Parameters<typeof startDatabase>[0] & { readonly options: Options };

/** Starts an embedded server for each store that no option names. */
export async function startStores(context: StoreContext, logsDir: string): Promise<Stores> {
  const { options } = context;
  const databaseServerUrl = options.databaseUrl ?? (await startDatabase(context, logsDir));
  const redisUrl = options.isRedisEmbedded ? await startRedis(context, logsDir) : options.redisUrl;
  return { databaseServerUrl, redisUrl };
}
