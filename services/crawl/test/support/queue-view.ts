import { createLogger } from '@platform/service-kit';
import { createEngine } from '../../src/features/queues/engine.js';
import { type CrawlQueues, openQueues } from '../../src/features/queues/queues.js';

/** The queues as the reconciler sees them. */
export type QueueView = Pick<CrawlQueues, 'jobState' | 'listSchedulers' | 'removeScheduler' | 'close'>;

/** Connects when it is first asked, on either backend. */
export function lookIntoQueues(backend: {
  readonly redisUrl: string | undefined;
  readonly databaseUrl: string;
}): QueueView {
  let opened: { readonly queues: CrawlQueues; close(): Promise<void> } | undefined;
  function open(): CrawlQueues {
    const log = createLogger('test', 'silent');
    opened ??= (() => {
      const engine = createEngine({ ...backend, workersMax: 0, log });
      const queues = openQueues({ engine, retryDelayMs: 0, clock: Date.now, log });
      const close = async () => {
        await queues.close();
        await engine.close();
      };
      return { queues, close };
    })();
    return opened.queues;
  }
  return {
    jobState: (connector, jobId) => open().jobState(connector, jobId),
    listSchedulers: (connector, offset, count) => open().listSchedulers(connector, offset, count),
    removeScheduler: (connector, key) => open().removeScheduler(connector, key),
    close: async () => opened?.close(),
  };
}
