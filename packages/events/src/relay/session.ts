import type { Logger } from '@platform/service-kit';
import pg from 'pg';
import { COMMITTED_CHANNEL, FREE_CHANNEL } from './queries.js';

/** The relay's own connection. It holds the lock, reads and marks, so that one fault ends all three together. */
export interface Session {
  readonly client: pg.Client;
  /** Returns the error that ended the connection; undefined while it is open. */
  failed(): Error | undefined;
  close(): Promise<void>;
}

const TIMEOUT_MS = 10_000;

// A host that vanishes does not close its connection. The server must detect that itself, or the lock would stay for hours.
const KEEPALIVE = `set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3`;

/**
 * Connects, and listens to the notifications of the other relays.
 *
 * @param onNotice - called for each notification on a channel, and when the connection has ended.
 */
export async function openSession(
  connectionString: string,
  log: Pick<Logger, 'debug'>,
  onNotice: (channel: string) => void,
): Promise<Session> {
  const client = new pg.Client({
    connectionString,
    application_name: 'event-relay',
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    statement_timeout: TIMEOUT_MS,
    keepAlive: true,
  });
  let fault: Error | undefined;
  client.on('error', (error) => {
    fault ??= error;
    log.debug({ err: error }, 'connection of the event relay lost');
    onNotice(FREE_CHANNEL);
  });
  // PostgreSQL also sends a connection its own notifications.
  const own = () => (client as pg.Client & { processID?: number }).processID;
  client.on('notification', ({ channel, processId }) => {
    if (processId !== own()) onNotice(channel);
  });
  try {
    await client.connect();
    await client.query(`${KEEPALIVE}; listen ${COMMITTED_CHANNEL}; listen ${FREE_CHANNEL}`);
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  return {
    client,
    failed: () => fault,
    close: () => client.end().catch(() => undefined),
  };
}
