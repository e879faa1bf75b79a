import {
  Client,
  InsufficientScopeError,
  type PriorDiscovery,
  ProtocolError,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client';
import { toUpstreamFault, UpstreamFault } from '../../../base/egress/faults.js';
import { ScopeFault } from './oauth/scope-fault.js';
import { createOneWayTransport, type TransportOptions } from './one-way-transport.js';

export interface ConnectionOptions extends TransportOptions {
  readonly orgId: string;
  /** The version that this client reports. */
  readonly version: string;
  readonly timeoutMs: number;
  /** The protocol that an earlier connection to the same server has found. */
  readonly prior: PriorDiscovery | undefined;
}

/** A connected client, and the bytes of its handshake, which it keeps. */
export interface Connected {
  readonly client: Client;
  readonly bytes: number;
}

/** The largest size of the answers to a handshake together. */
const MAX_HANDSHAKE_BYTES = 64 * 1_024;
/** A server of an earlier revision may leave the first attempt without an answer. */
const HANDSHAKE_ATTEMPTS = 2;

/** The content of results is the caller's to check: the platform compiles no schema of a foreign server. */
const acceptAll = {
  getValidator: () => (value: unknown) => ({ valid: true, data: value, errorMessage: undefined }) as never,
};

/** Connects with the official client: in the stateless revision if the server speaks it, or else in an earlier one. */
export function connectTo(options: ConnectionOptions): Promise<Connected> {
  const { orgId, version, timeoutMs, prior, allowances } = options;
  const client = new Client(
    { name: 'workspace-knowledge-platform', version },
    {
      capabilities: {},
      versionNegotiation: { mode: 'auto' },
      jsonSchemaValidator: acceptAll,
      inputRequired: { autoFulfill: false },
    },
  );
  const limits = { orgId, maxBytes: MAX_HANDSHAKE_BYTES, timeoutMs: HANDSHAKE_ATTEMPTS * timeoutMs };
  return allowances.run(limits, async ({ signal, getReceivedBytes }) => {
    try {
      await client.connect(createOneWayTransport(options), {
        timeout: timeoutMs,
        signal,
        ...(prior && { prior }),
      });
      return { client, bytes: getReceivedBytes() };
    } catch (error) {
      await client.close().catch(() => undefined);
      throw error;
    }
  });
}

/** Returns the protocol that a connection has found, for the next connection to the same server. */
export function getPrior(client: Client): PriorDiscovery {
  const discover = client.getDiscoverResult();
  return discover ? { kind: 'modern', discover } : { kind: 'legacy' };
}

/** Classifies an error of the client, which has read an answer or waited for one. */
function toClientFault(error: Error): UpstreamFault | undefined {
  if (error instanceof InsufficientScopeError) return new ScopeFault(error.requiredScope);
  if (error instanceof ProtocolError) return new UpstreamFault('protocol_error', error.code);
  if (!(error instanceof SdkError)) return undefined;
  const { status } = (error.data ?? {}) as { readonly status?: unknown };
  if (typeof status === 'number')
    return new UpstreamFault(status === 401 || status === 403 ? 'unauthorized' : 'http_error', status);
  return error.code === SdkErrorCode.RequestTimeout ? new UpstreamFault('timeout') : undefined;
}

/** Classifies whatever the client threw. */
export const toConnectionFault = (thrown: unknown): UpstreamFault => toUpstreamFault(thrown, toClientFault);
