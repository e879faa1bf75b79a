import { type RefusalReason, toRefusalReason } from '@platform/auth';
import { ServiceFault, type ServiceFaultKind } from '@platform/clients';
import { AppError, createServerErrorLog, type Logger, translateError } from '@platform/service-kit';
import type { Tool, ToolContext } from './tool.js';

/** A call that did not succeed, as it is reported to the caller. */
export interface Failure {
  readonly text: string;
  /** `refused` by a service; `failed` by an internal error or an outage; `cancelled` by the client. */
  readonly outcome: 'refused' | 'failed' | 'cancelled';
  /** Why the credential was refused; undefined for any other reason. */
  readonly reason?: RefusalReason | undefined;
}

type FailedTool = Pick<Tool, 'name' | 'annotations'>;
export type DescribeFailure = (thrown: unknown, tool: FailedTool, context: ToolContext) => Failure;

const refusals: ReadonlySet<ServiceFaultKind> = new Set(['refused', 'busy']);
const outages: ReadonlySet<ServiceFaultKind> = new Set(['unreachable', 'timeout']);

const isRefusal = (fault: ServiceFault | AppError): boolean =>
  fault instanceof AppError ? fault.statusCode < 500 : refusals.has(fault.kind);

const isOutage = (fault: ServiceFault | AppError): boolean =>
  fault instanceof AppError ? fault.statusCode === 503 : fault.status === 503 || outages.has(fault.kind);

/**
 * Whether a change may have been made although the call failed, as when the connection breaks during a commit. Faults
 * of other services say so in their own message.
 */
const isOutcomeUnknown = (fault: ServiceFault | AppError, { annotations }: FailedTool): boolean =>
  fault instanceof AppError && fault.statusCode >= 500 && !annotations.readOnlyHint;

function toText(fault: ServiceFault | AppError, tool: FailedTool): string {
  const details = (fault.details ?? []).map(({ field, message }) => `${field} ${message}`.trim()).join('; ');
  const message = isOutcomeUnknown(fault, tool)
    ? `${fault.message}; whether it was done is unknown`
    : fault.message;
  return details === '' ? message : `${message}: ${details}`;
}

function findReason(fault: ServiceFault | AppError): RefusalReason | undefined {
  const statusCode = fault instanceof AppError ? fault.statusCode : (fault.status ?? 0);
  return toRefusalReason({ statusCode, code: fault.code ?? '' });
}

/** Describes a fault in the words of the REST endpoint. The cause of an internal error is logged, not reported. */
export function createFailures(log: Logger): DescribeFailure {
  const logServerError = createServerErrorLog();
  return (thrown, tool, { requestId, principal, signal }) => {
    const fault = thrown instanceof ServiceFault ? thrown : translateError(thrown);
    const text = toText(fault, tool);
    const fields = { tool: tool.name, requestId, credentialId: principal.credentialId };
    if (signal.aborted) {
      log.debug({ err: fault.cause ?? fault, ...fields }, 'the client cancelled the tool call');
      return { text, outcome: 'cancelled' };
    }
    if (isRefusal(fault)) return { text, outcome: 'refused', reason: findReason(fault) };
    logServerError(log, {
      error: fault.cause ?? fault,
      message: 'tool call failed',
      isOutage: isOutage(fault),
      fields,
    });
    return { text, outcome: 'failed' };
  };
}
