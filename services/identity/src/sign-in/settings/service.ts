import { type Clock, validationError } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../resources.js';
import { toActor, type Caller } from '../../base/caller/actor.js';
import { findChanges } from '../../audit/changes.js';
import { insertAuditEntry } from '../../audit/queries.js';
import {
  getSignInSettings,
  lockSignInSettings,
  setSignInSettings,
} from '../../members/organisation/queries.js';
import { endSingleFactorSessions } from '../sessions/queries.js';
import { lockAdministration } from '../../members/organisation/administration.js';
import type { SaveSignInSettingsBody, SignInSettings } from './schemas.js';

const auditFields = ['codesEnabled', 'secondFactorRequired'] as const;
const toAuditForm = ({ codesEnabled, secondFactorRequired }: SignInSettings) => ({
  codesEnabled: String(codesEnabled),
  secondFactorRequired: String(secondFactorRequired),
});

export function createSignInSettings({ prisma, clock }: { readonly prisma: Prisma; readonly clock: Clock }) {
  async function saveIn(tx: Transaction, caller: Caller, body: SaveSignInSettingsBody) {
    const { orgId, credentialId } = caller;
    await lockAdministration(tx, caller);
    await lockSignInSettings(tx, orgId);
    const before = await getSignInSettings(tx, orgId);
    const { codesEnabled, secondFactorRequired = before.secondFactorRequired, endSessions = false } = body;
    if (endSessions && !secondFactorRequired)
      throw validationError([{ field: 'endSessions', message: 'needs secondFactorRequired' }]);
    const signIn = { codesEnabled, secondFactorRequired };
    const at = new Date(clock());
    const changes = findChanges(toAuditForm(before), toAuditForm(signIn), auditFields);
    const isChanged = Object.keys(changes).length > 0;
    if (isChanged) await setSignInSettings(tx, orgId, signIn);
    const endedCount = endSessions ? await endSingleFactorSessions(tx, orgId, at, credentialId) : 0;
    if (isChanged || endedCount > 0)
      await insertAuditEntry(tx, {
        orgId,
        action: 'configuration.sign_in_saved',
        actor: toActor(caller),
        subjectId: orgId,
        changes,
        detail: endedCount > 0 ? { sessionsEnded: String(endedCount) } : {},
        at,
      });
    return { signIn, endedCount };
  }

  return {
    get: (orgId: string) => getSignInSettings(prisma, orgId),

    /**
     * Takes effect immediately, also for codes that were mailed before.
     *
     * @returns the settings, and how many sessions were ended.
     * @throws AppError 400 when sessions are to end although no second factor is required; 403 ADMIN_REQUIRED.
     */
    save: (caller: Caller, body: SaveSignInSettingsBody) =>
      prisma.$transaction((tx) => saveIn(tx, caller, body)),
  };
}

export type SignInSettingsService = ReturnType<typeof createSignInSettings>;
