import { AppError, type ErrorFormat } from '@platform/service-kit';
import { initialScopes } from '../../oauth/provider/authorization-request.js';
import { MessageFault } from './schemas.js';

/** Maps an HTTP status to a code of JSON-RPC 2.0, or to -32001 when none fits. */
const getCode = (status: number, code: string): number =>
  code === 'INVALID_JSON'
    ? -32_700
    : status >= 500
      ? -32_603
      : status === 400 || status === 413
        ? -32_600
        : -32_001;

/** Renders HTTP errors, which are raised before the protocol is handled, in the format of JSON-RPC. */
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

/** A 401 names the scopes that a client should request first; a 403 has named the missing ones. */
const getScope = ({ statusCode }: AppError): string =>
  statusCode === 401 ? `, scope="${initialScopes.join(' ')}"` : '';

/**
 * Creates a function that adds the URL of the resource metadata to a challenge (RFC 9728 §5.1). For an error that is
 * thrown many times, the extended version is created once.
 */
export function createWithMetadata(metadataUrl: string): (error: AppError) => AppError {
  const known = new WeakMap<AppError, AppError>();
  return (error) => {
    const challenge = error.headers?.['www-authenticate'];
    if (challenge === undefined) return error;
    const made =
      known.get(error) ??
      addMetadata(error, `${challenge}${getScope(error)}, resource_metadata="${metadataUrl}"`);
    known.set(error, made);
    return made;
  };
}

function addMetadata(error: AppError, challenge: string): AppError {
  const { statusCode: status, code, message, details, cause, isReused } = error;
  const headers = { ...error.headers, 'www-authenticate': challenge };
  return new AppError({ status, code, message, headers, cause, isReused, ...(details && { details }) });
}
