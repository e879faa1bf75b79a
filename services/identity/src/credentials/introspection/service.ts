import { hasScope, type Introspection, type Presentation, type Principal } from '@platform/auth';
import { AppError } from '@platform/service-kit';

/** @returns the response of RFC 7662 §2.2, which is just `{active: false}` for an invalid token. @throws AppError 503. */
export type Introspect = (token: string, presentation?: Presentation) => Promise<Introspection>;

const inactive: Introspection = { active: false };

function toIntrospection(principal: Principal): Introspection {
  if (principal.kind === 'service')
    return {
      active: true,
      sub: principal.clientId,
      client_id: principal.clientId,
      kind: 'service',
      token_type: 'Bearer',
      scope: [...principal.grantedScopes].join(' '),
    };
  const { grantedScopes, expiresAt, bounds } = principal;
  return {
    active: true,
    sub: principal.userId,
    jti: principal.credentialId,
    org: principal.orgId,
    kind: principal.kind,
    ...(principal.isServiceAccount && { service_account: true }),
    ...(principal.clientId !== undefined && { client_id: principal.clientId }),
    role: principal.role,
    username: principal.email,
    name: principal.fullName,
    token_type: 'Bearer',
    scope: [...grantedScopes].filter((scope) => hasScope(principal, scope)).join(' '),
    ...(expiresAt === null ? {} : { exp: expiresAt / 1_000 }),
    ...(bounds && { authorization_details: [{ type: 'bounds', ...bounds }] }),
  };
}

/** Turns the verification's result into a response: an invalid token is inactive rather than an error. */
export const createIntrospect =
  (verifyBearer: (token: string, presentation?: Presentation) => Promise<Principal>): Introspect =>
  async (token, presentation) => {
    try {
      return toIntrospection(await verifyBearer(token, presentation));
    } catch (error) {
      if (error instanceof AppError && error.statusCode === 401) return inactive;
      throw error;
    }
  };
