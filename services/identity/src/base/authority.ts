import { requireAdmin } from '@platform/auth';

/** Rejects callers who aren't administrators. */
export const requireAdminRole = requireAdmin();

/** Does the same for the organisation's list of tokens and their revocation, which answer with 400 (PAT-12). */
export const requireTokenAdmin = requireAdmin(400);
