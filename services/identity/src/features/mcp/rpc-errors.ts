import { AppError, type ErrorFamily } from '@platform/service-kit';
import { Type } from 'typebox';

/** JSON-RPC 2.0's own codes where they fit; -32001 for the refusals of HTTP. */
const codeOf = (status: number, code: string): number =>
  code === 'INVALID_JSON'
    ? -32_700
    : status >= 500
      ? -32_603
      : status === 400 || status === 413
        ? -32_600
        : -32_001;

/** What is refused before the protocol is looked at, in the protocol's shape. */
export const jsonRpcErrors: ErrorFamily = {
  schema: Type.Object({
    jsonrpc: Type.Literal('2.0'),
    id: Type.Null(),
    error: Type.Object({ code: Type.Integer(), message: Type.String() }),
  }),
  render: ({ status, code, message, details = [] }) => ({
    jsonrpc: '2.0',
    id: null,
    error: {
      code: codeOf(status, code),
      message: [message, ...details.map((fault) => `${fault.field} ${fault.message}`)].join(': '),
    },
  }),
};

/** RFC 9728 §5.1: a challenge names where the resource is described. */
export function withMetadata(error: AppError, metadataUrl: string): AppError {
  const challenge = error.headers?.['www-authenticate'];
  if (challenge === undefined) return error;
  const headers = {
    ...error.headers,
    'www-authenticate': `${challenge}, resource_metadata="${metadataUrl}"`,
  };
  return new AppError({ status: error.statusCode, code: error.code, message: error.message, headers });
}
