import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, type Logger } from '@platform/service-kit';
import pg from 'pg';
import { WORK_CHANNEL } from './work.js';

/** With these a connection that a firewall has dropped is noticed within seconds. */
const KEEPALIVE =
  'set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3';

/**
 * Listens for runs that workers can claim, on a separate connection. `onWork` is called with an organisation, and with
 * undefined after a time without a connection, in which notifications may have been lost.
 */
export function createWorkListener(deps: {
  readonly databaseUrl: string;
  readonly onWork: (orgId: string | undefined) => void;
  readonly log: Pick<Logger, 'warn'>;
}) {
  const { databaseUrl, onWork, log } = deps;
  const stopping = new AbortController();
  let client: pg.Client | undefined;

  /** Resolves when the connection has ended. */
  async function listen(): Promise<void> {
    client = new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    const current = client;
    const ended = new Promise<void>((resolve) => {
      current.once('end', resolve);
      current.once('error', () => void current.end().catch(() => undefined));
    });
    current.on('notification', ({ payload }) => {
      onWork(payload);
    });
    try {
      await current.connect();
      await current.query(`${KEEPALIVE}; listen ${WORK_CHANNEL}`);
    } catch (error) {
      await current.end().catch(() => undefined);
      throw error;
    }
    onWork(undefined);
    await ended;
  }

  async function keepListening(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted;) {
      try {
        await listen();
        failures = 0;
      } catch (error) {
        failures += 1;
        log.warn({ err: error }, 'failed to listen for work; will retry');
      }
      await delay(backoffMs(failures + 1), undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  let listening: Promise<void> | undefined;
  return {
    start(): void {
      listening = keepListening();
    },
    async stop(): Promise<void> {
      stopping.abort();
      await client?.end().catch(() => undefined);
      await listening;
    },
  };
}
