import type { UserPrincipal } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { confirmPassword, type PasswordContext } from '../password/confirm-password.js';
import { isProviderConnected } from '../../members/organisation/provider-requirement.queries.js';
import { CONFIRMED_FOR_MS, isSessionConfirmed, setAuthenticated } from '../sessions/confirmed.js';

export function createSessionConfirmation(deps: PasswordContext & { readonly clock: Clock }) {
  const { prisma, clock } = deps;
  return {
    /**
     * Confirms the caller's session with the password.
     *
     * @returns until when it allows dangerous acts.
     * @throws AppError 400 WRONG_PASSWORD; 429, since a stolen session must not be able to guess the password.
     */
    async confirm(caller: Caller, password: string): Promise<Date> {
      await confirmPassword(deps, caller, password);
      const at = new Date(clock());
      const { orgId, credentialId: subjectId } = caller;
      await prisma.$transaction(async (tx) => {
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
    },

    /** Returns whether the session allows dangerous acts now. */
    isConfirmed: (session: UserPrincipal): Promise<boolean> => isSessionConfirmed(prisma, session, clock()),

    /** Returns whether the member can confirm it at the organisation's provider. */
    hasProvider: (caller: Caller): Promise<boolean> => isProviderConnected(prisma, caller),
  };
}

export type SessionConfirmation = ReturnType<typeof createSessionConfirmation>;
