import { requireAdmin } from '@platform/auth';

/** The administrators' routes of this service, but for the two of tokens. */
export const requireAdminRole = requireAdmin({
  status: 403,
  code: 'ADMIN_REQUIRED',
  message: 'Admin privileges required',
});
