import { isScope, type Scope } from '@platform/auth';
import { validationError } from '@platform/service-kit';

/** The scopes of an agent that asks for none in particular: to read what a member can. It asks for more when a tool needs more. */
export const initialScopes: readonly Scope[] = ['user:read', 'kb:read'];

/** The response modes that the metadata offers. The form of `form_post` would be stopped by the policy of the pages. */
export const responseModes: readonly string[] = ['query'];

/** The provider refuses an unknown mode with a redirect in the query. It has no setting that refuses the modes it knows. */
const UNKNOWN_MODE = 'unsupported';

/** Anybody can begin an authorization, which is stored with its parameters. */
const MAX_PARAMETERS = 30;
const MAX_PARAMETER_LENGTH = 2_048;
const MAX_QUERY_LENGTH = 8_192;

/** @param url - path and query. @throws AppError 400 when the parameters are too many or too long. */
export function assertParameterLimits(url: string): void {
  const [, query = ''] = url.split(/\?(.*)/s);
  const parameters = [...new URLSearchParams(query.slice(0, MAX_QUERY_LENGTH + 1))];
  const isWithin =
    query.length <= MAX_QUERY_LENGTH &&
    parameters.length <= MAX_PARAMETERS &&
    parameters.every(([, value]) => value.length <= MAX_PARAMETER_LENGTH);
  if (isWithin) return;
  throw validationError(
    [],
    `an authorization request has at most ${MAX_PARAMETERS} parameters of ${MAX_PARAMETER_LENGTH} characters`,
  );
}

/**
 * Adapts an authorization request to what the platform has.
 *
 * - Scopes that it does not know are ignored (RFC 6749 §3.3), such as `openid` and `offline_access`, for which many clients
 *   ask everywhere. A request without any other gets the initial ones.
 * - A response mode that is not offered is replaced by an unknown one.
 *
 * @param url - path and query.
 */
export function adaptAuthorizationRequest(url: string): string {
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const scopes = parameters.getAll('scope');
  // The provider refuses a parameter that is sent twice.
  if (scopes.length <= 1) {
    const known = (scopes[0] ?? '').split(' ').filter(isScope);
    parameters.set('scope', (known.length > 0 ? known : initialScopes).join(' '));
  }
  if (parameters.getAll('response_mode').some((mode) => mode !== '' && !responseModes.includes(mode)))
    parameters.set('response_mode', UNKNOWN_MODE);
  return `${path}?${parameters.toString()}`;
}
