import { isIP } from 'node:net';
import { callbackify } from 'node:util';
import { Agent, buildConnector } from 'undici';
import type { ResolveHost } from './resolve-host.js';
import { createTargetPolicy } from './target-policy.js';
import type { Target } from './target.js';

/**
 * There is no address that may be connected to: the operator's rules deny those of the host, or it has none. It is the same
 * error for both, so that nobody can find out which names resolve inside the operator's network.
 */
export class TargetDenied extends Error {
  override readonly name = 'TargetDenied';
  readonly code = 'EDENIED';
}

export interface Egress {
  /** Opens connections that the operator's rules allow, and no others. */
  readonly agent: Agent;
  /** @throws TargetDenied for a URL that no address of its host could make acceptable. */
  assertUrl(url: URL): void;
}

const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 30_000;

/** The codes of `node:dns` for a name that has no address. */
const NO_ADDRESS: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

const getPort = ({ protocol, port }: { readonly protocol: string; readonly port: string | null }): number =>
  port === null || port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
/** The host as it is resolved: an IPv6 address without its brackets. */
const getHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * Creates the wall in front of the network. With TLS, any public address is allowed; special-purpose addresses, and
 * connections without TLS, only where the operator lists them. The rules check the resolved address that is then
 * connected to, so that a name that resolves to another one a moment later (DNS rebinding) gains nothing.
 *
 * @param limits.maxAnswerBytes - the largest answer in bytes; the connection of a larger one is destroyed.
 * @param limits.maxConnections - to one origin, which further requests wait for; by default, any number.
 * @param limits.timeoutMs - for the answer's headers, and for the time between two parts of its body.
 */
export function createEgress(
  allowed: readonly Target[],
  limits: {
    readonly maxAnswerBytes: number;
    readonly maxConnections?: number;
    readonly timeoutMs: number;
  },
  resolveHost: ResolveHost,
): Egress {
  const secure = createTargetPolicy({ allowed, denied: [], ports: 'any' });
  const clear = createTargetPolicy({ allowed, denied: [], ports: [] });
  const getPolicy = (protocol: string) => (protocol === 'https:' ? secure : clear);

  const assertUrl: Egress['assertUrl'] = (url) => {
    const host = getHost(url.hostname);
    const port = getPort(url);
    const isKnownDenied = isIP(host) !== 0 && !getPolicy(url.protocol).allows(host, host, port);
    if (port === 0 || isKnownDenied || (url.protocol === 'http:' && allowed.length === 0))
      throw new TargetDenied(url.host);
  };

  async function resolveAllowed(host: string, protocol: string, port: number) {
    const addresses = await resolveHost(host, AbortSignal.timeout(CONNECT_TIMEOUT_MS)).catch(
      (error: NodeJS.ErrnoException) => {
        throw NO_ADDRESS.has(error.code) ? new TargetDenied(host) : error;
      },
    );
    const found = addresses.filter(({ address }) => getPolicy(protocol).allows(host, address, port));
    if (found.length === 0) throw new TargetDenied(host);
    return found;
  }

  /** One connector for each protocol and port, because a lookup receives the host alone. */
  const connectors = new Map<string, buildConnector.connector>();
  function getConnector(protocol: string, port: number): buildConnector.connector {
    const key = `${protocol}${port}`;
    const known = connectors.get(key);
    if (known) return known;
    const connector = buildConnector({
      timeout: CONNECT_TIMEOUT_MS,
      autoSelectFamily: true,
      lookup: (host, options, callback) => {
        callbackify(resolveAllowed)(host, protocol, port, (error, found) => {
          const [first] = found ?? [];
          if (error !== null || first === undefined) callback(error, []);
          else if (options.all) callback(null, found);
          else callback(null, first.address, first.family);
        });
      },
    });
    connectors.set(key, connector);
    return connector;
  }

  const agent = new Agent({
    // An address is not looked up, so it is checked here.
    connect: (options, callback) => {
      const host = getHost(options.hostname);
      const port = getPort(options);
      if (isIP(host) !== 0 && !getPolicy(options.protocol).allows(host, host, port))
        callback(new TargetDenied(host), null);
      else getConnector(options.protocol, port)({ ...options, hostname: host }, callback);
    },
    connections: limits.maxConnections ?? null,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: limits.timeoutMs,
    bodyTimeout: limits.timeoutMs,
    maxResponseSize: limits.maxAnswerBytes,
  });
  return { agent, assertUrl };
}
