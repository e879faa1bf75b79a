import { requireAdmin } from '@platform/auth';

/** What a member hears of the administrators' routes of this service, but for the two of tokens. */
export const adminRequired = {
  status: 403,
  code: 'ADMIN_REQUIRED',
  message: 'Admin privileges required',
} as const;

/** The administrators' routes of this service, but for the two of tokens. */
export const requireAdminRole = requireAdmin(adminRequired);
