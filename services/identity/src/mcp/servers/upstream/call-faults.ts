import { ServiceFault, type ServiceFaultKind } from '@platform/clients';
import type { KnowledgeScope } from '../gate.js';
import type { UpstreamFault, UpstreamFaultKind } from '../../../base/egress/faults.js';

interface CallerMessage {
  readonly kind: ServiceFaultKind;
  readonly text: string;
  /** Whether the call may have been carried out. */
  readonly isFateUnknown?: boolean;
}

const UNREACHABLE: CallerMessage = { kind: 'unreachable', text: "can't be reached; nothing was done" };
const NOT_UNDERSTOOD: CallerMessage = {
  kind: 'invalid_response',
  text: "gave an answer that can't be understood",
  isFateUnknown: true,
};

/** The messages for callers, which say what a fault means for them and repeat nothing that the server said. */
const messages: Readonly<Record<UpstreamFaultKind, CallerMessage>> = {
  no_address: UNREACHABLE,
  unreachable: UNREACHABLE,
  certificate: UNREACHABLE,
  redirect: UNREACHABLE,
  unauthorized: {
    kind: 'failed',
    text: 'does not accept the credential of this platform; nothing was done. An administrator can renew it',
  },
  no_credential: { kind: 'failed', text: 'has no credential; nothing was done' },
  http_error: NOT_UNDERSTOOD,
  invalid_answer: NOT_UNDERSTOOD,
  repeated_cursor: NOT_UNDERSTOOD,
  disconnected: { kind: 'timeout', text: 'broke the connection', isFateUnknown: true },
  timeout: { kind: 'timeout', text: 'gave no answer in time', isFateUnknown: true },
  too_large: {
    kind: 'invalid_response',
    text: 'gave an answer that is too large: ask for less',
    isFateUnknown: true,
  },
  busy: {
    kind: 'busy',
    text: 'gave a large answer while others were received: try again later',
    isFateUnknown: true,
  },
  protocol_error: { kind: 'refused', text: 'refused the call' },
};

const INVALID_PARAMS = -32_602;

export function toServiceFault(fault: UpstreamFault, service: string, scope: KnowledgeScope): ServiceFault {
  const { kind, text, isFateUnknown = false } = messages[fault.kind];
  const reason = fault.code === INVALID_PARAMS ? ' because of its arguments' : '';
  const fate = isFateUnknown && scope !== 'kb:read' ? '; whether it did what it was asked is unknown' : '';
  return new ServiceFault({
    kind,
    service,
    message: `The server ${service} ${text}${reason}${fate}.`,
    cause: fault,
  });
}

const busy = (service: string, message: string): ServiceFault =>
  new ServiceFault({ kind: 'busy', service, message });

export const tooManyCalls = (service: string): ServiceFault =>
  busy(
    service,
    `Too many calls to the server ${service} are in progress; nothing was done. Try again later.`,
  );

export const circuitOpen = (service: string, waitMs: number): ServiceFault =>
  busy(
    service,
    `The server ${service} has failed repeatedly and is left alone for a while; nothing was done. Try again in ${Math.ceil(waitMs / 1_000)} seconds.`,
  );

// oxfmt-ignore
const failures: ReadonlySet<UpstreamFaultKind> = new Set([
  'no_address', 'unreachable', 'disconnected', 'certificate', 'redirect', 'timeout', 'invalid_answer',
]);

/** Whether the fault is the server's, rather than that of one call, so that it counts towards opening the circuit. */
export const isServerFailure = ({ kind, code }: UpstreamFault): boolean =>
  failures.has(kind) || (kind === 'http_error' && code !== undefined && (code >= 500 || code === 429));
