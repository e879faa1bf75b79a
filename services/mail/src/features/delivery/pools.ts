import type { Readable } from 'node:stream';
import { callbackify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { createTransport, type SendMailOptions, type SMTPPoolOptions, type Transporter } from 'nodemailer';
import MimeNode from 'nodemailer/lib/mime-node';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { openSocket } from './connect.js';
import { classifyFailure, type AttemptResult } from './outcome.js';
import { toTransportOptions, type TransportLimits } from './transport-options.js';

/** A mail in the form that nodemailer expects. The Message-ID identifies it among the mails in progress. */
export type Message = SendMailOptions & { readonly messageId: string; readonly signal: AbortSignal };

type MailMessage = Parameters<Parameters<Transporter['use']>[1]>[0];

/** A mail in progress, as nodemailer represents it. */
interface Sending {
  readonly mail: MailMessage;
  stream: Readable | undefined;
}

/**
 * Frees the content of a sent mail. nodemailer keeps a reference to the first mail of each connection for as long as the
 * connection is open, which would hold the attachments in memory.
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
    ...toTransportOptions(configuration, limits),
    getSocket: connectWith(configuration, limits),
    pool: true,
    maxConnections: limits.connectionsPerPool,
    maxMessages: Number.POSITIVE_INFINITY,
    idleTimeout: limits.idleMs,
    // Otherwise nodemailer would resend by itself after a broken connection. `classifyFailure` decides when that is safe.
    maxRequeues: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // Without a listener, an idle connection that breaks would crash the process.
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
    /** Resolves when the mails in progress have finished and the connections are closed. The pool gets no new mails. */
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
 * Keeps one pool of connections for each organisation and configuration. A changed configuration opens a new pool for the
 * next mail and lets the old pool finish. The least recently used pool is closed to make room for another one.
 */
export function createTransportPools(limits: TransportLimits & { readonly maxPools: number }) {
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
    // Replacing an entry disposes of the previous pool.
    pools.set(orgId, pool);
    return pool;
  }

  return {
    /** Makes one attempt on a pooled connection. Never rejects. */
    attempt: (orgId: string, configuration: SmtpConfiguration, message: Message): Promise<AttemptResult> =>
      getPool(orgId, configuration).attempt(message),

    /** True until `close` is called. */
    get isUp(): boolean {
      return isUp;
    },
    get size(): number {
      return pools.size;
    },

    /** Waits for the mails in progress, then closes all connections. */
    async close(): Promise<void> {
      isUp = false;
      pools.clear();
      await Promise.all(retiring);
    },
  };
}

export type TransportPools = ReturnType<typeof createTransportPools>;
