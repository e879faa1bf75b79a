import { hasScope, type Introspection, type Principal } from '@platform/auth';
import { AppError } from '@platform/service-kit';

/** @returns the answer of RFC 7662 §2.2; `{active: false}` tells nothing more. @throws AppError 503. */
export type Introspect = (token: string) => Promise<Introspection>;

const inactive: Introspection = { active: false };

function describe(principal: Principal): Introspection {
  if (principal.kind === 'service')
    return {
      active: true,
      sub: principal.clientId,
      client_id: principal.clientId,
      kind: 'service',
      token_type: 'Bearer',
      scope: [...principal.grantedScopes].join(' '),
    };
  const { grantedScopes, expiresAt } = principal;
  return {
    active: true,
    sub: principal.userId,
    jti: principal.credentialId,
    org: principal.orgId,
    kind: principal.kind,
    role: principal.role,
    username: principal.email,
    name: principal.fullName,
    token_type: 'Bearer',
    scope: [...grantedScopes].filter((scope) => hasScope(principal, scope)).join(' '),
    ...(expiresAt === null ? {} : { exp: expiresAt / 1_000 }),
  };
}

/** The pipeline's verdict, as an answer rather than a refusal. */
export const createIntrospect =
  (verifyBearer: (token: string) => Promise<Principal>): Introspect =>
  async (token) => {
    try {
      return describe(await verifyBearer(token));
    } catch (error) {
      if (error instanceof AppError && error.statusCode === 401) return inactive;
      throw error;
    }
  };
