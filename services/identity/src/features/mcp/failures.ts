import { ServiceFault, type ServiceFaultKind } from '@platform/clients';
import { AppError, createServerErrorLog, type Logger, translateError } from '@platform/service-kit';
import type { Tool, ToolContext } from './tool.js';

/** A call that did not succeed, as its caller is told. */
export interface Failure {
  readonly text: string;
  /** `refused`: somebody said no; `failed`: something broke; `cancelled`: the client gave it up. */
  readonly outcome: 'refused' | 'failed' | 'cancelled';
}

export type DescribeFailure = (thrown: unknown, tool: Tool, context: ToolContext) => Failure;

const refusals: ReadonlySet<ServiceFaultKind> = new Set(['refused', 'busy']);
const outages: ReadonlySet<ServiceFaultKind> = new Set(['unreachable', 'timeout']);

const isRefusal = (fault: ServiceFault | AppError): boolean =>
  fault instanceof AppError ? fault.statusCode < 500 : refusals.has(fault.kind);

const isOutage = (fault: ServiceFault | AppError): boolean =>
  fault instanceof AppError ? fault.statusCode === 503 : fault.status === 503 || outages.has(fault.kind);

/** Of a service the client has said it. The database can be lost while it commits. */
const isOutcomeUnknown = (fault: ServiceFault | AppError, { annotations }: Tool): boolean =>
  fault instanceof AppError && fault.statusCode >= 500 && !annotations.readOnlyHint;

function toText(fault: ServiceFault | AppError, tool: Tool): string {
  const details =
    fault instanceof AppError
      ? fault.details?.map(({ field, message }) => `${field} ${message}`).join('; ')
      : fault.details;
  const message = isOutcomeUnknown(fault, tool)
    ? `${fault.message}; whether it was done is unknown`
    : fault.message;
  return details ? `${message}: ${details}` : message;
}

/** A fault of the REST endpoint in its own words; what broke inside is logged, not told. */
export function createFailures(log: Logger): DescribeFailure {
  const logServerError = createServerErrorLog();
  return (thrown, tool, { requestId, principal, signal }) => {
    const fault = thrown instanceof ServiceFault ? thrown : translateError(thrown);
    const text = toText(fault, tool);
    const fields = { tool: tool.name, requestId, credentialId: principal.credentialId };
    if (signal.aborted) {
      log.debug({ err: fault.cause ?? fault, ...fields }, 'tool call given up');
      return { text, outcome: 'cancelled' };
    }
    if (isRefusal(fault)) return { text, outcome: 'refused' };
    logServerError(log, {
      error: fault.cause ?? fault,
      message: 'tool failed',
      isOutage: isOutage(fault),
      fields,
    });
    return { text, outcome: 'failed' };
  };
}
