import { Client, type PriorDiscovery, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Dispatcher, fetch, Headers, type RequestInit, Response } from 'undici';
import { UpstreamFault } from '../../../base/egress/faults.js';

type Fetch = NonNullable<
  NonNullable<ConstructorParameters<typeof StreamableHTTPClientTransport>[1]>['fetch']
>;

export interface ConnectionOptions {
  readonly url: string;
  readonly dispatcher: Dispatcher;
  /** Returns the headers that identify the caller. Called for each request. */
  readonly createHeaders: () => Promise<Readonly<Record<string, string>>>;
  /** The version that this client reports. */
  readonly version: string;
  readonly timeoutMs: number;
  /** After this time an answer is broken off, also a stream that the client no longer waits for. */
  readonly maxAnswerMs: number;
  /** The protocol that an earlier connection to the same server has found. */
  readonly prior: PriorDiscovery | undefined;
}

/** The content of results is the caller's to judge: the platform compiles no schema of a foreign server. */
const acceptAll = {
  getValidator: () => (value: unknown) => ({ valid: true, data: value, errorMessage: undefined }) as never,
};

/**
 * Creates the fetch of a connection. It opens no stream for messages that nobody asked for, follows no redirect, and
 * accepts no compressed answer, because the size of an answer is limited as it is received.
 */
function createFetch({ dispatcher, createHeaders, maxAnswerMs }: ConnectionOptions): Fetch {
  const guarded = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    if (init.method === 'GET') return new Response(null, { status: 405 });
    const headers = new Headers(init.headers);
    headers.set('accept-encoding', 'identity');
    for (const [name, value] of Object.entries(await createHeaders())) headers.set(name, value);
    const limit = AbortSignal.timeout(maxAnswerMs);
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
    const response = await fetch(url, { ...init, headers, signal, dispatcher, redirect: 'manual' });
    const encoding = response.headers.get('content-encoding');
    const isRedirect = response.status >= 300 && response.status < 400;
    if (!isRedirect && (encoding === null || encoding === 'identity')) return response;
    await response.body?.cancel();
    throw isRedirect ? new UpstreamFault('redirect', response.status) : new UpstreamFault('invalid_answer');
  };
  // The types of Node's own fetch, which the client expects, are those of another version of the same library.
  return guarded as unknown as Fetch;
}

/** Connects with the official client: in the stateless revision if the server speaks it, or else in an earlier one. */
export async function connectTo(options: ConnectionOptions, signal?: AbortSignal): Promise<Client> {
  const { url, version, timeoutMs, prior } = options;
  const client = new Client(
    { name: 'workspace-knowledge-platform', version },
    {
      capabilities: {},
      versionNegotiation: { mode: 'auto' },
      jsonSchemaValidator: acceptAll,
      inputRequired: { autoFulfill: false },
    },
  );
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: createFetch(options),
    requestInit: { redirect: 'manual' },
    onInsufficientScope: 'throw',
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  try {
    await client.connect(transport, {
      timeout: timeoutMs,
      ...(prior && { prior }),
      ...(signal && { signal }),
    });
    return client;
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
}

/** Returns the protocol that a connection has found, for the next connection to the same server. */
export function getPrior(client: Client): PriorDiscovery {
  const discover = client.getDiscoverResult();
  return discover ? { kind: 'modern', discover } : { kind: 'legacy' };
}
