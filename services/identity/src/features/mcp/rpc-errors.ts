import { AppError, type ErrorFormat } from '@platform/service-kit';
import { MessageFault } from './schemas.js';

/** JSON-RPC 2.0's own codes where they fit; -32001 for the refusals of HTTP. */
const getCode = (status: number, code: string): number =>
  code === 'INVALID_JSON'
    ? -32_700
    : status >= 500
      ? -32_603
      : status === 400 || status === 413
        ? -32_600
        : -32_001;

/** What is refused before the protocol is looked at, in the protocol's shape. */
export const jsonRpcErrors: ErrorFormat = {
  schema: MessageFault,
  render: ({ status, code, message, details = [] }) => ({
    jsonrpc: '2.0',
    id: null,
    error: {
      code: getCode(status, code),
      message: [message, ...details.map((fault) => `${fault.field} ${fault.message}`)].join(': '),
    },
  }),
};

/**
 * RFC 9728 §5.1: a challenge names where the resource is described. An error that is thrown many times has one such
 * version of itself.
 */
export function createWithMetadata(metadataUrl: string): (error: AppError) => AppError {
  const known = new WeakMap<AppError, AppError>();
  return (error) => {
    const challenge = error.headers?.['www-authenticate'];
    if (challenge === undefined) return error;
    const made = known.get(error) ?? addMetadata(error, `${challenge}, resource_metadata="${metadataUrl}"`);
    known.set(error, made);
    return made;
  };
}

function addMetadata(error: AppError, challenge: string): AppError {
  const { statusCode: status, code, message, details, cause, isReused } = error;
  const headers = { ...error.headers, 'www-authenticate': challenge };
  return new AppError({ status, code, message, headers, cause, isReused, ...(details && { details }) });
}
