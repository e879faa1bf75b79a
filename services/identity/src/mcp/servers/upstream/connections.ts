import { createHash } from 'node:crypto';
import type { Client, PriorDiscovery } from '@modelcontextprotocol/client';
import type { Egress, Logger } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import { type CreateHeaders, isPerAccount, type ServerCredential, type Subject } from './credentials.js';
import { type Allowance, createAllowances } from './allowance.js';
import type { Connected } from './connection.js';
import { toUpstreamFault, type UpstreamFault, type UpstreamFaultKind } from '../../../base/egress/faults.js';

/** A server as connections need it. A change of the URL or the credential makes another revision. */
export interface UpstreamServer extends ServerCredential {
  readonly name: string;
  readonly revision: number;
  /** The largest answer of a call. */
  readonly maxAnswerBytes: number;
}

/** A connected client that calls may share. */
interface Connection {
  readonly connected: Promise<Connected>;
  inUse: number;
  isRetired: boolean;
}

/** The purpose of a connection. */
interface Use {
  readonly server: UpstreamServer;
  /** Undefined for the platform itself. */
  readonly subject: Subject | undefined;
  /** Reports that the caller has cancelled, which proves nothing about the connection. */
  readonly signal?: AbortSignal;
  /** Whether it may be sent again when the server no longer knows a connection that was kept. Only reads are. */
  readonly isRepeatable: boolean;
  /** The largest size of the answers together. */
  readonly maxBytes: number;
  /** The longest duration, with all that the purpose needs. */
  readonly deadlineMs?: number;
}

/** Faults after which a connection is as good as before. */
// oxfmt-ignore
const harmless: ReadonlySet<UpstreamFaultKind> = new Set(['protocol_error', 'too_large', 'timeout', 'busy', 'repeated_cursor']);

/** Loads the official client with the first use of a server: without mounted servers, nobody needs it in memory. */
const loadClient = () => import('./connection.js');
type ClientModule = Awaited<ReturnType<typeof loadClient>>;

const MAX_CONNECTIONS = 1_000;
/** A connection keeps what its server said in the handshake: as objects, up to this multiple of its bytes. */
const KEPT_COPIES = 16;
/** Connections with a handshake of ordinary size are limited by their number, these by their memory. */
const MAX_KEPT_BYTES = 32 * 1_048_576;
const toKeptBytes = (bytes: number): number => 1 + KEPT_COPIES * bytes;
const IDLE_MS = 300_000;
/** A server may be upgraded to a newer revision of the protocol, so that what is known of it is forgotten. */
const PRIOR_MS = 600_000;

/** Returns what a server learns of a caller, as a text that fits into a key. */
const digest = ({ userId, scopes, claims, own }: Subject): string =>
  createHash('sha256')
    .update(JSON.stringify(own ? [userId, own.id] : [userId, scopes, claims]))
    .digest('base64url');

const toServerKey = ({ id, revision }: UpstreamServer) => `${id} ${revision}`;
const toKey = (server: UpstreamServer, subject: Subject | undefined): string =>
  (server.credential === 'assertion' || isPerAccount(server)) && subject
    ? `${toServerKey(server)} ${digest(subject)}`
    : toServerKey(server);
/** What a server says of itself to one account need not be so for another. */
const toPriorKey = (server: UpstreamServer, subject: Subject | undefined): string =>
  isPerAccount(server) ? toKey(server, subject) : toServerKey(server);

function closeConnection(log: Pick<Logger, 'debug'>, connection: Connection): void {
  connection.connected
    .then(({ client }) => client.close())
    .catch((error: unknown) => {
      // Without its text, in which a credential can be.
      log.debug({ err: toUpstreamFault(error) }, 'failed to close the connection to an MCP server');
    });
}

/**
 * Keeps connections. Callers share one, unless the server learns who calls: then a session that the server keeps is
 * never used for two people, for different scopes, or once the groups of the person have changed [MCP-40], nor for two
 * credentials of one person [MCP-53].
 */
export function createConnections(deps: {
  readonly egress: Egress;
  readonly createHeaders: CreateHeaders;
  readonly version: string;
  readonly timeoutMs: number;
  readonly maxAnswerMs: number;
  readonly log: Pick<Logger, 'debug'>;
}) {
  const { egress, createHeaders, version, timeoutMs, maxAnswerMs, log } = deps;
  const dispose = (connection: Connection): void => {
    connection.isRetired = true;
    if (connection.inUse === 0) closeConnection(log, connection);
  };
  const connections = new LRUCache<string, Connection>({
    max: MAX_CONNECTIONS,
    maxSize: MAX_KEPT_BYTES,
    ttl: IDLE_MS,
    updateAgeOnGet: true,
    dispose,
  });
  const priors = new LRUCache<string, PriorDiscovery>({
    max: MAX_CONNECTIONS,
    maxSize: MAX_KEPT_BYTES,
    ttl: PRIOR_MS,
  });
  const allowances = createAllowances();

  function open(
    { connectTo }: ClientModule,
    server: UpstreamServer,
    subject: Subject | undefined,
  ): Promise<Connected> {
    return connectTo({
      url: server.url,
      orgId: server.orgId,
      dispatcher: egress.agent,
      allowances,
      createHeaders: () => createHeaders(server, subject),
      version,
      timeoutMs,
      maxAnswerMs,
      prior: priors.get(toPriorKey(server, subject)),
    });
  }

  function get(loaded: ClientModule, server: UpstreamServer, subject: Subject | undefined) {
    const key = toKey(server, subject);
    const known = connections.get(key);
    if (known) return { key, connection: known, isNew: false };
    const connected = open(loaded, server, subject);
    const connection: Connection = { connected, inUse: 0, isRetired: false };
    connected
      .then(({ bytes }) => {
        if (connections.peek(key) === connection)
          connections.set(key, connection, { size: toKeptBytes(bytes) });
      })
      .catch(() => undefined);
    connections.set(key, connection, { size: 1 });
    return { key, connection, isNew: true };
  }

  function retire(key: string, connection: Connection, { server, subject }: Use): void {
    priors.delete(toPriorKey(server, subject));
    if (connections.peek(key) === connection) connections.delete(key);
  }

  async function tryUse<T>(
    use: Use,
    run: (client: Client) => Promise<T>,
  ): Promise<{ readonly done: T } | { readonly fault: UpstreamFault; readonly isStale: boolean }> {
    const { server, subject, signal, isRepeatable } = use;
    const loaded = await loadClient();
    const { key, connection, isNew } = get(loaded, server, subject);
    connection.inUse += 1;
    try {
      const { client, bytes } = await connection.connected;
      const done = await run(client);
      if (isNew)
        priors.set(toPriorKey(server, subject), loaded.getPrior(client), { size: toKeptBytes(bytes) });
      return { done };
    } catch (error) {
      if (signal?.aborted) throw error;
      const fault = loaded.toConnectionFault(error);
      if (!harmless.has(fault.kind)) retire(key, connection, use);
      const isSessionLost = fault.kind === 'http_error' && (fault.code === 404 || fault.code === 400);
      const isLost = isSessionLost || fault.kind === 'disconnected';
      return { fault, isStale: isRepeatable && !isNew && isLost };
    } finally {
      connection.inUse -= 1;
      if (connection.isRetired && connection.inUse === 0) closeConnection(log, connection);
    }
  }

  return {
    /**
     * Runs with a connection that is kept for the next call.
     *
     * @throws UpstreamFault; whatever `run` threw when the caller has cancelled.
     */
    use<T>(to: Use, run: (client: Client, allowance: Allowance) => Promise<T>): Promise<T> {
      const { server, maxBytes, deadlineMs: limitMs } = to;
      const limits = { orgId: server.orgId, maxBytes, ...(limitMs !== undefined && { timeoutMs: limitMs }) };
      return allowances.run(limits, async (allowance) => {
        const first = await tryUse(to, (client) => run(client, allowance));
        if ('done' in first) return first.done;
        if (!first.isStale) throw first.fault;
        const second = await tryUse(to, (client) => run(client, allowance));
        if ('done' in second) return second.done;
        throw second.fault;
      });
    },

    async close(): Promise<void> {
      connections.clear();
      await egress.agent.destroy();
    },
  };
}

export type Connections = ReturnType<typeof createConnections>;
