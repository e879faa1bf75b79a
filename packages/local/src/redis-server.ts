import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { showStep } from '@platform/config/progress.mjs';
import { EmbeddedServerError, startEmbeddedRedis } from '@platform/embedded';
import type { Options } from '../options.mjs';
import { LaunchError } from './launch-error.js';
import { openLogFile } from './log-file.js';
import type { Teardown } from './teardown.js';

interface RedisContext {
  readonly options: Pick<Options, 'dataDir'>;
  readonly teardown: Teardown;
  onCrash(error: LaunchError): void;
}

/** Starts the embedded Redis (or Valkey), and returns its URL. */
export async function startRedis(
  { options, teardown, onCrash }: RedisContext,
  logsDir: string,
): Promise<string> {
  return showStep('Starting Redis', async () => {
    const log = await openLogFile(logsDir, 'redis');
    teardown.add({ name: 'log of Redis', stop: () => Promise.resolve(log.close()), kill: () => undefined });
    const dataDir = join(options.dataDir, 'redis');
    try {
      const password = randomBytes(24).toString('hex');
      const redis = await startEmbeddedRedis({ dataDir, password, onLog: log.write });
      teardown.add({ name: 'Redis', stop: () => redis.stop(), kill: () => redis.kill() });
      void redis.exited.then(() => {
        onCrash(new LaunchError(`Redis ended. Its log (${log.path}) ends with:\n${log.tail()}`));
      });
      return redis.url;
    } catch (error) {
      if (!(error instanceof EmbeddedServerError)) throw error;
      throw new LaunchError(
        `${error.message}. Without --redis the job queues are in PostgreSQL; --redis-url names another server.`,
      );
    }
  });
}
