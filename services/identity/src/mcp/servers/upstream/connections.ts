import type { Client, PriorDiscovery } from '@modelcontextprotocol/client';
import type { Logger } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type { CreateHeaders, ServerCredential, Subject } from './credentials.js';
import { connectTo, getPrior } from './connection.js';
import type { Egress } from '../../../base/egress/egress.js';
import { toUpstreamFault, type UpstreamFault, type UpstreamFaultKind } from '../../../base/egress/faults.js';

/** A server as connections need it. A change of the URL or the credential makes another revision. */
export interface UpstreamServer extends ServerCredential {
  readonly name: string;
  readonly revision: number;
}

/** A connected client that calls may share. */
interface Connection {
  readonly client: Promise<Client>;
  inUse: number;
  isRetired: boolean;
}

/** The purpose of a connection. */
interface Use {
  readonly server: UpstreamServer;
  /** Undefined for the platform itself. */
  readonly subject: Subject | undefined;
  /** Tells that the caller has cancelled, which says nothing about the connection. */
  readonly signal?: AbortSignal;
  /** Whether it may be sent again when a connection breaks that was kept, and that the server may have closed. */
  readonly isRepeatable: boolean;
}

/** Faults after which a connection is as good as before. */
const harmless: ReadonlySet<UpstreamFaultKind> = new Set(['protocol_error', 'too_large', 'timeout']);

const MAX_CONNECTIONS = 1_000;
const IDLE_MS = 300_000;
/** A server may be upgraded to a newer revision of the protocol, so that what is known of it is forgotten. */
const PRIOR_MS = 600_000;

/**
 * Keeps connections. Callers share one, unless the server is told who calls: then a session that the server keeps is
 * never used for two people or for different scopes.
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
  const end = (connection: Connection): void => {
    connection.client
      .then((client) => client.close())
      .catch((error: unknown) => {
        log.debug({ err: error }, 'failed to close the connection to an MCP server');
      });
  };
  const dispose = (connection: Connection): void => {
    connection.isRetired = true;
    if (connection.inUse === 0) end(connection);
  };
  const connections = new LRUCache<string, Connection>({
    max: MAX_CONNECTIONS,
    ttl: IDLE_MS,
    updateAgeOnGet: true,
    dispose,
  });
  const priors = new LRUCache<string, PriorDiscovery>({ max: MAX_CONNECTIONS, ttl: PRIOR_MS });

  const toServerKey = ({ id, revision }: UpstreamServer) => `${id} ${revision}`;
  const toKey = (server: UpstreamServer, subject: Subject | undefined): string =>
    server.credential === 'assertion' && subject
      ? `${toServerKey(server)} ${subject.userId} ${subject.scopes.join()}`
      : toServerKey(server);

  async function open(server: UpstreamServer, subject: Subject | undefined): Promise<Client> {
    const key = toServerKey(server);
    return connectTo({
      url: server.url,
      dispatcher: egress.agent,
      createHeaders: () => createHeaders(server, subject),
      version,
      timeoutMs,
      maxAnswerMs,
      prior: priors.get(key),
    });
  }

  function get(key: string, server: UpstreamServer, subject: Subject | undefined) {
    const known = connections.get(key);
    if (known) return { connection: known, isNew: false };
    const connection: Connection = { client: open(server, subject), inUse: 0, isRetired: false };
    connection.client.catch(() => undefined);
    connections.set(key, connection);
    return { connection, isNew: true };
  }

  function retire(key: string, connection: Connection, server: UpstreamServer): void {
    priors.delete(toServerKey(server));
    if (connections.peek(key) === connection) connections.delete(key);
  }

  async function tryUse<T>(
    { server, subject, signal, isRepeatable }: Use,
    run: (client: Client) => Promise<T>,
  ): Promise<{ readonly done: T } | { readonly fault: UpstreamFault; readonly isStale: boolean }> {
    const key = toKey(server, subject);
    const { connection, isNew } = get(key, server, subject);
    connection.inUse += 1;
    try {
      const client = await connection.client;
      const done = await run(client);
      if (isNew) priors.set(toServerKey(server), getPrior(client));
      return { done };
    } catch (error) {
      if (signal?.aborted) throw error;
      const fault = toUpstreamFault(error);
      if (!harmless.has(fault.kind)) retire(key, connection, server);
      // The server has refused the request because it has forgotten the session, so that nothing was done.
      const isSessionLost = fault.kind === 'http_error' && (fault.code === 404 || fault.code === 400);
      const isBroken = fault.kind === 'disconnected' && isRepeatable;
      return { fault, isStale: !isNew && (isSessionLost || isBroken) };
    } finally {
      connection.inUse -= 1;
      if (connection.isRetired && connection.inUse === 0) end(connection);
    }
  }

  return {
    /**
     * Runs with a connection that is kept for the next call.
     *
     * @throws UpstreamFault; whatever `run` threw when the caller has cancelled.
     */
    async use<T>(to: Use, run: (client: Client) => Promise<T>): Promise<T> {
      const first = await tryUse(to, run);
      if ('done' in first) return first.done;
      if (!first.isStale) throw first.fault;
      const second = await tryUse(to, run);
      if ('done' in second) return second.done;
      throw second.fault;
    },

    async close(): Promise<void> {
      connections.clear();
      await egress.agent.destroy();
    },
  };
}

export type Connections = ReturnType<typeof createConnections>;
