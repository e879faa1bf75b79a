import {
  hasScope,
  insufficientScope,
  getPrincipal,
  requireAdmin,
  type Scope,
  standardRefusals,
} from '@platform/auth';
import type { onRequestHookHandler } from 'fastify';

/** The administrators' routes of this service. */
export const requireAdminRole = requireAdmin({
  status: 403,
  code: 'ADMIN_REQUIRED',
  message: 'Admin privileges required',
});

/** A personal access token with the scope; a session isn't a scoped token. */
export function requireScopedToken(scope: Scope): onRequestHookHandler {
  return (request, _reply, done) => {
    const principal = getPrincipal(request);
    if (principal.kind !== 'pat' || !hasScope(principal, scope))
      throw insufficientScope(standardRefusals, [scope]);
    done();
  };
}
