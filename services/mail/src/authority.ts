import {
  hasScope,
  insufficientScope,
  getPrincipal,
  requireAdmin,
  type Scope,
  standardAuthErrors,
} from '@platform/auth';
import type { onRequestHookHandler } from 'fastify';

/** Refuses everybody but administrators, with the message that the specification gives. */
export const requireAdminRole = requireAdmin({
  status: 403,
  code: 'ADMIN_REQUIRED',
  message: 'Admin privileges required',
});

/** Requires a token with the scope. A session is refused, because it isn't limited to scopes. */
export function requireScopedToken(scope: Scope): onRequestHookHandler {
  return (request, _reply, done) => {
    const principal = getPrincipal(request);
    if ((principal.kind !== 'pat' && principal.kind !== 'oauth') || !hasScope(principal, scope))
      throw insufficientScope(standardAuthErrors, [scope]);
    done();
  };
}
