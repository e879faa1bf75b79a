import type { LookupAddress } from 'node:dns';
import { BlockList, connect, isIP, isIPv6, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { isImplicitTls, getSecureContext, type TransportLimits } from './transport-options.js';

/** Has the same codes as nodemailer's errors, so that `toProblem` reads both. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly command = 'CONN';
  constructor(
    readonly code: 'EDNS' | 'ESOCKET' | 'ETIMEDOUT',
    readonly originalCode?: string,
  ) {
    super(originalCode ?? code);
  }
}

/** The code of a target that the operator's rules deny. */
const DENIED = 'EDENIED';

const MAX_ADDRESSES = 8;

const getCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Resolves with the event. Destroys the socket and rejects when the connection fails or the signal is aborted. */
async function waitFor(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  await new Promise<void>((done, fail) => {
    const abort = (): void => {
      fail(new ConnectError('ETIMEDOUT'));
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', (error) => {
      fail(new ConnectError('ESOCKET', getCode(error)));
    });
    socket.once('close', () => {
      fail(new ConnectError('ESOCKET'));
    });
    socket.once(event, () => {
      signal.removeEventListener('abort', abort);
      done();
    });
  }).catch((error: unknown) => {
    socket.destroy();
    throw error;
  });
}

/** Tries the addresses in turn (RFC 8305), without resolving the host again. */
async function connectTo(
  addresses: readonly LookupAddress[],
  { host, port }: SmtpConfiguration,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connect({
    host,
    port,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.max(250, Math.floor(timeoutMs / addresses.length)),
    lookup: (_host, _options, callback) => {
      callback(null, [...addresses]);
    },
  });
  await waitFor(socket, 'connect', signal);
  return socket;
}

/** A connection in the form that nodemailer's `getSocket` expects. */
export interface OpenSocket {
  readonly connection: Socket;
  /** Whether TLS has been negotiated. */
  readonly secured: boolean;
  /** Set where STARTTLS is required, whatever the options say. */
  readonly requireTLS?: true;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

const isLoopback = ({ remoteAddress = '' }: Socket): boolean =>
  loopback.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4');

/** With `auto`, nothing but TLS carries a login beyond this machine: it opens more than the SMTP server. */
const requiresStarttls = ({ tls, username }: SmtpConfiguration, connection: Socket): boolean =>
  tls === 'auto' && username !== undefined && !isLoopback(connection);

/**
 * Resolves the host once, drops the addresses that the operator's rules deny, and connects to one of the remaining
 * addresses. A name that resolves to another address a moment later (DNS rebinding) gains nothing. The certificate is
 * checked against the configured host.
 *
 * @throws ConnectError, with a code that `toProblem` understands.
 */
export async function openSocket(
  configuration: SmtpConfiguration,
  { targets, timeoutMs, resolveHost }: Pick<TransportLimits, 'targets' | 'timeoutMs' | 'resolveHost'>,
): Promise<OpenSocket> {
  const { host, port } = configuration;
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const timeout = delay(timeoutMs, undefined, { signal: ended.signal }).then(() => {
      throw new ConnectError('ETIMEDOUT');
    });
    const resolving = resolveHost(host, signal).catch((error: unknown) => {
      throw new ConnectError('EDNS', getCode(error));
    });
    const resolved = await Promise.race([resolving, timeout]);
    const allowed = resolved.filter(({ address }) => targets.allows(host, address, port));
    if (allowed.length === 0) throw new ConnectError('EDNS', DENIED);
    const socket = await connectTo(allowed.slice(0, MAX_ADDRESSES), configuration, timeoutMs, signal);
    if (!isImplicitTls(configuration))
      return {
        connection: socket,
        secured: false,
        ...(requiresStarttls(configuration, socket) && { requireTLS: true }),
      };
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const secured = connectTls({ socket, host, ...servername, secureContext: getSecureContext() });
    await waitFor(secured, 'secureConnect', signal);
    return { connection: secured, secured: true };
  } finally {
    ended.abort();
  }
}
