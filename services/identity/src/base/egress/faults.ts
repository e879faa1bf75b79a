import { isNativeError } from 'node:util/types';
import { TargetDenied } from '@platform/service-kit';
import { errors } from 'undici';

/** Why a server could not be used. Administrators see it; callers of tools see only what it means for them. */
export const upstreamFaultKinds = [
  /**
   * The host has no address that the operator's rules allow, or TLS is missing. It is the same for a host that doesn't exist, so
   * that nobody can explore the operator's network.
   */
  'no_address',
  'unreachable',
  /** The connection broke. */
  'disconnected',
  /** TLS fails: the certificate is invalid or for another host, or the server speaks no TLS that is accepted. */
  'certificate',
  /** The credential was refused: 401 or 403. */
  'unauthorized',
  /** Nobody has a credential with which it could be asked. */
  'no_credential',
  'redirect',
  'http_error',
  'timeout',
  /** The answer is larger than is accepted. */
  'too_large',
  /** The answers that the platform receives at the same time are too large together. */
  'busy',
  /** The answer is not the protocol's. */
  'invalid_answer',
  /** A list never ends: a page leads back to one before it. */
  'repeated_cursor',
  /** A JSON-RPC error. */
  'protocol_error',
] as const;
export type UpstreamFaultKind = (typeof upstreamFaultKinds)[number];

export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  constructor(
    readonly kind: UpstreamFaultKind,
    /** An HTTP status or JSON-RPC code; never text of the server. */
    readonly code?: number,
  ) {
    super(code === undefined ? kind : `${kind} ${code}`);
  }
}

// oxfmt-ignore
const FAILED_LOOKUP: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EAI_AGAIN', 'ETIMEOUT', 'ECANCELLED']);
// oxfmt-ignore
const UNREACHABLE: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);
const BROKEN: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const TIMEOUTS: ReadonlySet<unknown> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const isCertificateCode = (code: unknown): boolean =>
  typeof code === 'string' &&
  (/CERT|CRL_|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|ERR_TLS|ERR_SSL|UNABLE_TO_/.test(
    code,
  ) ||
    code === 'EPROTO');

/** Yields the error and what caused it: fetch, and connections to several addresses, wrap what happened. */
function* unwrap(thrown: unknown, depth = 0): Generator<{ readonly code?: unknown } & Error> {
  if (!isNativeError(thrown) || depth > 5) return;
  yield thrown;
  yield* unwrap(thrown.cause, depth + 1);
  if ('errors' in thrown && Array.isArray(thrown.errors))
    for (const error of thrown.errors) yield* unwrap(error, depth + 1);
}

/** Classifies an error of the network. */
function toNetworkFault(error: { readonly code?: unknown } & Error): UpstreamFault | undefined {
  const { code } = error;
  if (error instanceof TargetDenied) return new UpstreamFault('no_address');
  if (error instanceof errors.ResponseExceededMaxSizeError) return new UpstreamFault('too_large');
  if (isCertificateCode(code)) return new UpstreamFault('certificate');
  if (FAILED_LOOKUP.has(code)) return new UpstreamFault('no_address');
  if (UNREACHABLE.has(code)) return new UpstreamFault('unreachable');
  if (TIMEOUTS.has(code)) return new UpstreamFault('timeout');
  if (BROKEN.has(code)) return new UpstreamFault('disconnected');
  return undefined;
}

/**
 * Classifies whatever a request threw. Nothing of what the server said is kept.
 *
 * @param toClientFault classifies the errors of a client beyond HTTP.
 */
export function toUpstreamFault(
  thrown: unknown,
  toClientFault?: (error: Error) => UpstreamFault | undefined,
): UpstreamFault {
  for (const error of unwrap(thrown)) {
    const fault = error instanceof UpstreamFault ? error : (toNetworkFault(error) ?? toClientFault?.(error));
    if (fault) return fault;
  }
  return new UpstreamFault(
    isNativeError(thrown) && thrown.name === 'TypeError' ? 'disconnected' : 'invalid_answer',
  );
}
