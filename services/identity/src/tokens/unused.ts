/** The owner of an unused token is warned so many days before it is revoked. */
export const WARNING_DAYS = 7;

/*
 * SQL of the rule that unused tokens are revoked. The tables have the aliases `token`, `used` (its last use, which may be
 * missing), `policy` (of its organisation) and `unused` (its row in `unused_tokens`).
 */

const toDays = (days: string | number): string => `interval '24 hours' * ${days}`;

/** A use is stored up to two seconds later, or more when the database is unavailable: a use at the last moment keeps the token. */
const FLUSH_MARGIN = `interval '10 minutes'`;

/** The last use of a token as far as it is known: its creation counts as one. */
export const lastUse = 'greatest(token.created_at, used.last_used_at)';

/** When days without a use begin: the policy may not count those before it was tightened. */
export const unusedSince = `greatest(${lastUse}, policy.unused_from)`;

/** Tokens that were last used before then are warned about. @param now - the parameter with the time. */
export const warningBound = (now: string): string =>
  `${now}::timestamptz - ${toDays(`(policy.revoke_unused_days - ${WARNING_DAYS})`)}`;

/** When a token is revoked that is warned about at `now`, unless it is used. */
export const revokedFrom = (now: string): string =>
  `greatest(${unusedSince} + ${toDays('policy.revoke_unused_days')}, ${now}::timestamptz + ${toDays(WARNING_DAYS)})`;

/** Tokens that were warned about before then may be revoked. */
export const warnedBefore = (now: string): string =>
  `${now}::timestamptz - ${toDays(WARNING_DAYS)} - ${FLUSH_MARGIN}`;

/** Whether a token is to be revoked: its warning is a week old, and it was used neither since then nor in all the days. */
export const isRevocable = (now: string): string => `
  token.status = 'active' and token.successor_id is null and unused.warned_at <= ${warnedBefore(now)}
  and ${lastUse} < unused.warned_at
  and ${unusedSince} + ${toDays('policy.revoke_unused_days')} + ${FLUSH_MARGIN} <= ${now}`;

/** The condition for the token `id` in the statement that revokes it, so that a use in the meantime keeps it. */
export const isStillRevocable = (id: string, now: string): string => `exists (
  select from personal_access_tokens token join unused_tokens unused on unused.token_id = token.id
    join token_policies policy on policy.org_id = token.org_id
    left join token_last_used used on used.token_id = token.id
  where token.id = ${id} and ${isRevocable(now)})`;
