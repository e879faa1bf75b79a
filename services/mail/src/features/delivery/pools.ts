import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { callbackify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { createTransport, type SendMailOptions, type SMTPPoolOptions, type Transporter } from 'nodemailer';
import MimeNode from 'nodemailer/lib/mime-node';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { TokenFault } from '../smtp-oauth/request-token.js';
import { type SmtpTokens, usesOauth } from '../smtp-oauth/tokens.js';
import { ConnectError, openSocket } from './connect.js';
import { type AttemptResult, classifyFailure, classifySuccess } from './outcome.js';
import { type ServerOffer, toSessionOptions } from './session.js';
import { toTransportOptions, type TransportLimits } from './transport-options.js';

/** A mail in the form that nodemailer expects. The Message-ID identifies it among the mails in progress. */
export type Message = SendMailOptions & { readonly messageId: string; readonly signal: AbortSignal };

/**
 * Called when the server is ready for the message, before the first byte of it is sent. When it rejects, nothing is sent.
 */
export type OnData = () => Promise<void>;

type MailMessage = Parameters<Parameters<Transporter['use']>[1]>[0];

/** A mail in progress, as nodemailer represents it. */
interface Sending {
  readonly onData: OnData;
  mail: MailMessage | undefined;
  /** Whether any byte of the message may have reached the server. */
  isBegun: boolean;
  /** The error of the message's own content, after which the server cannot have the whole of it. */
  contentError: unknown;
}

/** Lets the message through once its beginning is stored. Nothing reads the stream before the server is ready for the message. */
function guard(source: Readable, sending: Sending): Readable {
  const guarded = new PassThrough();
  const fail = (error: unknown): void => {
    sending.contentError = error;
    guarded.destroy(error as Error);
  };
  source.on('error', fail);
  const passOn = (): void => {
    if (guarded.destroyed) return;
    source.once('data', () => {
      sending.isBegun = true;
    });
    source.pipe(guarded);
  };
  guarded.once('resume', () => void sending.onData().then(passOn, fail));
  return guarded;
}

const EMPTY = new MimeNode();

/**
 * Frees the content of a sent mail. nodemailer keeps a reference to the first mail of each connection for as long as the
 * connection is open, which would hold the attachments in memory.
 */
function strip(mail: MailMessage): void {
  mail.data = { signal: mail.data.signal };
  mail.message = EMPTY;
}

const connectWith =
  (configuration: SmtpConfiguration, limits: TransportLimits): NonNullable<SMTPPoolOptions['getSocket']> =>
  (_options, callback) => {
    callbackify(openSocket)(configuration, limits, callback);
  };

/** The access tokens with which the connections of one pool sign in. */
interface Tokens {
  get(): Promise<string>;
  /** The server has refused the login: the token is replaced, unless it is new. */
  reject(): Promise<void>;
}

const bindTokens = (
  tokens: PoolLimits['tokens'],
  orgId: string,
  configuration: SmtpConfiguration,
): Tokens | undefined =>
  tokens && usesOauth(configuration)
    ? {
        get: () => tokens.get(orgId, configuration),
        reject: () => tokens.reject(orgId, configuration),
      }
    : undefined;

/** Waits for something that other mails need as well, and that goes on, until the mail is aborted. @throws `timeout` then. */
async function waitUntilAborted(
  waiting: Promise<unknown>,
  signal: AbortSignal,
  timeout: Error,
): Promise<void> {
  if (signal.aborted) throw timeout;
  const ended = new AbortController();
  const aborted = once(signal, 'abort', { signal: ended.signal }).then(() => {
    throw timeout;
  });
  try {
    await Promise.race([waiting, aborted]);
  } finally {
    ended.abort();
  }
}

/** Exchange Online refuses further connections of a mailbox (432 4.3.2). */
const MAX_CONNECTIONS_MICROSOFT = 3;

/** Whether so few connections are allowed that codes have a separate pool, with one connection. */
const isLimited = ({ oauth }: SmtpConfiguration): boolean => oauth?.provider === 'microsoft';

/** A code never waits for a connection that other mails use. */
function toMaxConnections({ configuration, isCode }: PoolChoice, { connectionsPerPool }: TransportLimits) {
  if (!isLimited(configuration)) return connectionsPerPool + 1;
  return isCode ? 1 : Math.min(connectionsPerPool, MAX_CONNECTIONS_MICROSOFT - 1);
}

function createPool(choice: PoolChoice, limits: TransportLimits, tokens: Tokens | undefined) {
  const { configuration } = choice;
  let offer: ServerOffer | undefined;
  let asking: Promise<unknown> | undefined;
  async function getToken(isRefused: boolean): Promise<string> {
    if (isRefused) await tokens?.reject();
    return tokens?.get() ?? '';
  }
  const transporter = createTransport({
    ...toTransportOptions(configuration, limits),
    ...toSessionOptions(configuration, getToken, (latest) => {
      offer = latest;
    }),
    getSocket: connectWith(configuration, limits),
    pool: true,
    maxConnections: toMaxConnections(choice, limits),
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
    const sending = sendings.get(mail.data.messageId ?? '');
    if (sending) {
      sending.mail = mail;
      mail.message.processFunc((stream) => guard(stream, sending));
    }
    done(sending ? undefined : new Error('The mail is not in progress'));
  });

  let inProgress = 0;
  let isRetired = false;
  let onIdle: (() => void) | undefined;

  function finish(messageId: string): void {
    const mail = sendings.get(messageId)?.mail;
    if (mail) strip(mail);
    sendings.delete(messageId);
    inProgress -= 1;
    if (isRetired && inProgress === 0) {
      transporter.close();
      onIdle?.();
    }
  }

  return {
    fingerprint: JSON.stringify(configuration),
    async attempt(message: Message, onData: OnData): Promise<AttemptResult> {
      inProgress += 1;
      const sending: Sending = { onData, mail: undefined, isBegun: false, contentError: undefined };
      sendings.set(message.messageId, sending);
      try {
        // Without one, no connection is opened for nothing.
        if (tokens) await waitUntilAborted(tokens.get(), message.signal, new TokenFault('timeout'));
        return classifySuccess(await transporter.sendMail(message));
      } catch (error) {
        const result = classifyFailure(error, sending.isBegun && sending.contentError === undefined);
        // A failure to replace the token shows in the next attempt.
        if (isLoginRefused(result)) await tokens?.reject().catch(() => undefined);
        return result;
      } finally {
        finish(message.messageId);
      }
    },
    /** Returns what the server offered to the latest connection, and opens one for that if there was none. */
    async getOffer(signal: AbortSignal): Promise<ServerOffer> {
      asking ??= offer ? undefined : transporter.verify().finally(() => (asking = undefined));
      if (asking) await waitUntilAborted(asking, signal, new ConnectError('ETIMEDOUT'));
      return offer ?? { smtpUtf8: false, maxBytes: undefined };
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

const isLoginRefused = ({ outcome }: AttemptResult): boolean =>
  outcome.state === 'failed' && outcome.problem.code === 'EAUTH' && outcome.problem.reply !== undefined;

interface PoolLimits extends TransportLimits {
  readonly maxPools: number;
  /** Needed by organisations whose servers want access tokens. */
  readonly tokens?: Pick<SmtpTokens, 'get' | 'reject'>;
}

/** Which connections a mail uses. Mails with the same key and configuration share them. */
export interface PoolChoice {
  readonly orgId: string;
  readonly poolKey: string;
  readonly configuration: SmtpConfiguration;
  /** Whether the mail has the priority of codes. */
  readonly isCode: boolean;
}

/**
 * Keeps one pool of connections for each organisation and configuration. A changed configuration opens a new pool for the
 * next mail and lets the old pool finish. The least recently used pool is closed to make room for another one.
 */
export function createTransportPools(limits: PoolLimits) {
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

  function getPool(choice: PoolChoice): Pool {
    const { orgId, configuration, isCode } = choice;
    const poolKey = isCode && isLimited(configuration) ? `${choice.poolKey} codes` : choice.poolKey;
    const present = pools.get(poolKey);
    if (present?.fingerprint === JSON.stringify(configuration)) return present;
    const pool = createPool(choice, limits, bindTokens(limits.tokens, orgId, configuration));
    // Replacing an entry disposes of the previous pool.
    pools.set(poolKey, pool);
    return pool;
  }

  return {
    /** Makes one attempt on a pooled connection. Never rejects. */
    attempt: (choice: PoolChoice, message: Message, onData: OnData): Promise<AttemptResult> =>
      getPool(choice).attempt(message, onData),

    /** Returns what the server offers. @throws when it can't be asked: see `classifyFailure`. */
    getOffer: (choice: PoolChoice, signal: AbortSignal): Promise<ServerOffer> =>
      getPool(choice).getOffer(signal),

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
