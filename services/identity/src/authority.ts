import { requireAdmin } from '@platform/auth';

/** The error for members who call an administrators' route. */
export const adminRequired = {
  status: 403,
  code: 'ADMIN_REQUIRED',
  message: 'Admin privileges required',
} as const;

/** Rejects callers who aren't administrators. */
export const requireAdminRole = requireAdmin(adminRequired);

/** Does the same for the organisation's list of tokens and their revocation, which answer with 400 (PAT-12). */
export const requireTokenAdmin = requireAdmin({ ...adminRequired, status: 400 });
