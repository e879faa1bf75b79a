import { requireAdmin } from '@platform/auth';

/** The error for members who call an administrators' route; the two administrators' routes for tokens have their own. */
export const adminRequired = {
  status: 403,
  code: 'ADMIN_REQUIRED',
  message: 'Admin privileges required',
} as const;

/** Rejects callers who aren't administrators. */
export const requireAdminRole = requireAdmin(adminRequired);
