import { requireAdmin } from '@platform/auth';

/** Refuses everybody but administrators, with the message that the specification gives. */
export const requireAdminRole = requireAdmin({
  status: 403,
  code: 'ADMIN_REQUIRED',
  message: 'Admin privileges required',
});
