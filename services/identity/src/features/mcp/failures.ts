import { ServiceFault, type ServiceFaultKind } from '@platform/clients';
import { AppError, createServerErrorLog, type Logger, translateError } from '@platform/service-kit';
import type { ToolContext } from './tool.js';

/** A call that did not succeed, as its caller is told. */
export interface Failure {
  readonly text: string;
  /** `refused`: somebody said no; `failed`: something broke; `cancelled`: the client gave it up. */
  readonly outcome: 'refused' | 'failed' | 'cancelled';
}

export type DescribeFailure = (thrown: unknown, tool: string, context: ToolContext) => Failure;

const refusals: ReadonlySet<ServiceFaultKind> = new Set(['refused', 'busy']);
const outages: ReadonlySet<ServiceFaultKind> = new Set(['unreachable', 'silent']);

const isRefusal = (fault: ServiceFault | AppError): boolean =>
  fault instanceof AppError ? fault.statusCode < 500 : refusals.has(fault.kind);

const isOutage = (fault: ServiceFault | AppError): boolean =>
  fault instanceof AppError ? fault.statusCode === 503 : outages.has(fault.kind);

function textOf(fault: ServiceFault | AppError): string {
  const details =
    fault instanceof AppError
      ? fault.details?.map(({ field, message }) => `${field} ${message}`).join('; ')
      : fault.details;
  return details ? `${fault.message}: ${details}` : fault.message;
}

/** A fault of the REST endpoint in its own words; what broke inside is logged, not told. */
export function createFailures(log: Logger): DescribeFailure {
  const logServerError = createServerErrorLog();
  return (thrown, tool, { requestId, principal, signal }) => {
    const fault = thrown instanceof ServiceFault ? thrown : translateError(thrown);
    const text = textOf(fault);
    const fields = { tool, requestId, credentialId: principal.credentialId };
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
