import { isNativeError } from 'node:util/types';
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { toUpstreamFault } from '../../base/egress/faults.js';

/** Why a provider could not be used, or what is wrong with its answer. It never contains text of the provider. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';
  constructor(
    readonly kind: string,
    /** The HTTP status of the provider. */
    readonly status?: number,
  ) {
    super(status === undefined ? kind : `${kind} ${status}`);
  }
}

/** An error code of OAuth (RFC 6749 §4.1.2.1), such as `access_denied`. */
const isErrorCode = (text: string): boolean => /^[a-z_]{1,64}$/.test(text);

const isInvalidAnswer = (code: string | undefined): boolean =>
  code?.startsWith('OAUTH_') === true && code !== 'OAUTH_TIMEOUT' && code !== 'OAUTH_ABORT';

/** Returns the status of the response that the library could not use, if that is the fault. */
function getStatus({ cause }: ClientError): number | undefined {
  const { status } = (cause ?? {}) as { readonly status?: unknown };
  return typeof status === 'number' && status !== 200 ? status : undefined;
}

/** Classifies whatever was thrown while a provider was asked. */
export function toProviderFault(thrown: unknown): ProviderFault {
  if (thrown instanceof ProviderFault) return thrown;
  if (thrown instanceof AuthorizationResponseError)
    return new ProviderFault(isErrorCode(thrown.error) ? thrown.error : 'refused');
  if (thrown instanceof ResponseBodyError) return new ProviderFault('token_refused', thrown.status);
  if (thrown instanceof ClientError) {
    const status = getStatus(thrown);
    if (status !== undefined)
      return new ProviderFault(status >= 300 && status < 400 ? 'redirect' : 'http_error', status);
    if (thrown.code === 'OAUTH_TIMEOUT') return new ProviderFault('timeout');
    // A parse error may also be a connection that broke, or an answer that was too large.
    const network = toUpstreamFault(thrown).kind;
    if (network !== 'invalid_answer') return new ProviderFault(network);
    if (isInvalidAnswer(thrown.code)) return new ProviderFault('invalid_answer');
  }
  return new ProviderFault(isNativeError(thrown) ? toUpstreamFault(thrown).kind : 'invalid_answer');
}
