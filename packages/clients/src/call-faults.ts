import type { Route } from './operation.js';
import { ServiceFault, type ServiceFaultKind } from './service-fault.js';

/** The kinds of faults that the client detects itself. */
type OwnKind = Exclude<ServiceFaultKind, 'refused' | 'failed'>;

const textByKind: Readonly<Record<OwnKind, string>> = {
  busy: 'is busy with other calls; nothing was done. Try again later',
  unreachable: "can't be reached; nothing was done. Try again later",
  timeout: 'gave no answer in time',
  invalid_response: "gave an answer that can't be understood",
  aborted: 'was not waited for',
};
const notSent: ReadonlySet<OwnKind> = new Set(['busy', 'unreachable']);

/** The codes of failures that occur before a request is sent. */
// oxfmt-ignore
const CONNECT_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT',
]);

/** The names of errors about a response that is no HTTP, or no JSON. By name, since `fetch` has its own copy of undici. */
const UNREADABLE_NAMES: ReadonlySet<unknown> = new Set(['HTTPParserError', 'SyntaxError']);

/** Creates a fault that the client detected itself. Its message says what is known of the outcome. */
export function createFault(
  service: string,
  { method }: Route,
  { kind, cause }: { readonly kind: OwnKind; readonly cause?: unknown },
): ServiceFault {
  const isKnown = method === 'GET' || notSent.has(kind);
  const outcome = isKnown ? '' : '; whether it did what it was asked is unknown';
  return new ServiceFault({
    kind,
    service,
    message: `The ${service} service ${textByKind[kind]}${outcome}.`,
    cause,
  });
}

/** Classifies an error that a request failed with before its response was complete. */
export function classifyError(error: unknown, signal: AbortSignal | undefined): OwnKind {
  if (signal?.aborted) return 'aborted';
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: string };
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || UNREADABLE_NAMES.has(name)) return 'invalid_response';
  return CONNECT_CODES.has(code) ? 'unreachable' : 'timeout';
}

/** Returns whether a request was given up because it took too long, rather than failed. */
export function isTimeout(error: unknown): boolean {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: string };
  return name === 'TimeoutError' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
}
