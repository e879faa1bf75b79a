import type { UserPrincipal } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { confirmPassword, type PasswordContext } from '../password/confirm-password.js';
import { isProviderConnected } from '../../members/organisation/provider-requirement.queries.js';
import { CONFIRMED_FOR_MS, isSessionConfirmed, setAuthenticated } from '../sessions/confirmed.js';

export interface ConfirmationContext extends PasswordContext {
  readonly clock: Clock;
}

/**
 * Confirms the caller's session with the password.
 *
 * @returns until when it allows dangerous acts.
 * @throws AppError 400 WRONG_PASSWORD; 429, since a stolen session must not be able to guess the password.
 */
export async function confirmSession(
  ctx: ConfirmationContext,
  caller: Caller,
  password: string,
): Promise<Date> {
  await confirmPassword(ctx, caller, password);
  const at = new Date(ctx.clock());
  const { orgId, credentialId: subjectId } = caller;
  await ctx.prisma.$transaction(async (tx) => {
    // A session that has just ended needs no entry: the next request is 401.
    if (!(await setAuthenticated(tx, caller, at))) return;
    const detail = { method: 'password' };
    const entry = {
      orgId,
      action: 'session.confirmed',
      actor: toActor(caller),
      subjectId,
      detail,
    } as const;
    await insertAuditEntry(tx, { ...entry, at });
  });
  return new Date(at.getTime() + CONFIRMED_FOR_MS);
}

/** Returns whether the session allows dangerous acts now. */
export function isConfirmed(
  { prisma, clock }: ConfirmationContext,
  session: UserPrincipal,
): Promise<boolean> {
  return isSessionConfirmed(prisma, session, clock());
}

/** Returns whether the member can confirm it at the organisation's provider. */
export function hasProvider({ prisma }: ConfirmationContext, caller: Caller): Promise<boolean> {
  return isProviderConnected(prisma, caller);
}
