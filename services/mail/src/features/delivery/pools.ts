import type { Readable } from 'node:stream';
import { callbackify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { createTransport, type SendMailOptions, type SMTPPoolOptions, type Transporter } from 'nodemailer';
import MimeNode from 'nodemailer/lib/mime-node';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { openSocket } from './connect.js';
import { classifyFailure, type AttemptResult } from './outcome.js';
import { transportOptions, type TransportLimits } from './transport-options.js';

/** A mail as nodemailer takes it; its Message-ID is what tells it from others under way. */
export type Message = SendMailOptions & { readonly messageId: string; readonly signal: AbortSignal };

export interface TransportPools {
  /** One attempt, on a pooled connection. Never rejects. */
  attempt(orgId: string, configuration: SmtpConfiguration, message: Message): Promise<AttemptResult>;
  /** False until the first mail can go and again from `close` on. */
  readonly isUp: boolean;
  readonly size: number;
  /** Lets the mails under way finish, then closes all connections. */
  close(): Promise<void>;
}

type MailMessage = Parameters<Parameters<Transporter['use']>[1]>[0];

/** What nodemailer makes of a mail that is under way. */
interface Sending {
  readonly mail: MailMessage;
  stream: Readable | undefined;
}

/**
 * nodemailer holds the first mail of each connection for as long as the connection is open. What is left of it has no
 * recipients: it can't be sent again.
 */
function strip(mail: MailMessage): void {
  mail.data = { signal: mail.data.signal };
  mail.message = new MimeNode();
}

const connectWith =
  (configuration: SmtpConfiguration, limits: TransportLimits): NonNullable<SMTPPoolOptions['getSocket']> =>
  (_options, callback) => {
    callbackify(openSocket)(configuration, limits, callback);
  };

function createPool(configuration: SmtpConfiguration, limits: TransportLimits) {
  const transporter = createTransport({
    ...transportOptions(configuration, limits),
    getSocket: connectWith(configuration, limits),
    pool: true,
    maxConnections: limits.connectionsPerPool,
    maxMessages: Number.POSITIVE_INFINITY,
    idleTimeout: limits.idleMs,
    // nodemailer would send again by itself after a broken connection. When that is safe is decided here.
    maxRequeues: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // Without a listener, a connection that breaks while idle would end the process.
  transporter.on('error', () => undefined);
  const sendings = new Map<string, Sending>();
  transporter.use('stream', (mail, done) => {
    const sending: Sending = { mail, stream: undefined };
    sendings.set(mail.data.messageId ?? '', sending);
    mail.message.processFunc((stream) => (sending.stream = stream));
    done();
  });

  let inProgress = 0;
  let isRetired = false;
  let onIdle: (() => void) | undefined;

  function finish(messageId: string): void {
    const sending = sendings.get(messageId);
    if (sending) strip(sending.mail);
    sendings.delete(messageId);
    inProgress -= 1;
    if (isRetired && inProgress === 0) {
      transporter.close();
      onIdle?.();
    }
  }

  return {
    fingerprint: JSON.stringify(configuration),
    async attempt(message: Message): Promise<AttemptResult> {
      inProgress += 1;
      try {
        const { rejected } = await transporter.sendMail(message);
        return { outcome: { state: 'sent', refused: rejected.map(String) }, canRetry: false };
      } catch (error) {
        return classifyFailure(error, sendings.get(message.messageId)?.stream?.readableDidRead ?? false);
      } finally {
        finish(message.messageId);
      }
    },
    /** No new mail comes; those under way finish on the old connections. */
    retire: () =>
      new Promise<void>((resolve) => {
        onIdle = resolve;
        isRetired = true;
        if (inProgress > 0) return;
        transporter.close();
        resolve();
      }),
  };
}

type Pool = ReturnType<typeof createPool>;

/**
 * One pool of connections per organisation and configuration. A changed configuration opens a new pool for
 * the next mail and lets the old one finish; the least recently used pool makes place for another.
 */
export function createTransportPools(
  limits: TransportLimits & { readonly maxPools: number },
): TransportPools {
  const retiring = new Set<Promise<void>>();
  let isUp = true;
  const pools = new LRUCache<string, Pool>({
    max: limits.maxPools,
    dispose(pool) {
      const retired = pool.retire();
      retiring.add(retired);
      void retired.then(() => retiring.delete(retired));
    },
  });

  function getPool(orgId: string, configuration: SmtpConfiguration): Pool {
    const present = pools.get(orgId);
    if (present?.fingerprint === JSON.stringify(configuration)) return present;
    const pool = createPool(configuration, limits);
    // A pool that was there is disposed of by this.
    pools.set(orgId, pool);
    return pool;
  }

  return {
    attempt: (orgId, configuration, message) => getPool(orgId, configuration).attempt(message),
    get isUp() {
      return isUp;
    },
    get size() {
      return pools.size;
    },
    async close() {
      isUp = false;
      pools.clear();
      await Promise.all(retiring);
    },
  };
}
