import { type Clock, validationError } from '@platform/service-kit';
import type { Prisma } from '../../prisma.js';
import type { Caller } from '../../base/caller/actor.js';
import { findChanges } from '../../audit/changes.js';
import {
  getSignInSettings,
  lockSignInSettings,
  setSignInSettings,
} from '../../members/organisation/queries.js';
import { endSingleFactorSessions } from '../sessions/queries.js';
import { type Administration, changeAsAdministrator } from '../../members/organisation/administration.js';
import type { SaveSignInSettingsBody, SignInSettings } from './schemas.js';

const auditFields = ['codesEnabled', 'secondFactorRequired'] as const;
const toAuditForm = ({ codesEnabled, secondFactorRequired }: SignInSettings) => ({
  codesEnabled: String(codesEnabled),
  secondFactorRequired: String(secondFactorRequired),
});

export interface SignInSettingsContext {
  readonly prisma: Prisma;
  readonly clock: Clock;
}

export const findSignInSettings = ({ prisma }: SignInSettingsContext, orgId: string) =>
  getSignInSettings(prisma, orgId);

async function saveIn(
  { tx, at, record }: Administration,
  { orgId, credentialId }: Caller,
  body: SaveSignInSettingsBody,
) {
  await lockSignInSettings(tx, orgId);
  const before = await getSignInSettings(tx, orgId);
  const { codesEnabled, secondFactorRequired = before.secondFactorRequired, endSessions = false } = body;
  if (endSessions && !secondFactorRequired)
    throw validationError([{ field: 'endSessions', message: 'needs secondFactorRequired' }]);
  const signIn = { codesEnabled, secondFactorRequired };
  const changes = findChanges(toAuditForm(before), toAuditForm(signIn), auditFields);
  const isChanged = Object.keys(changes).length > 0;
  if (isChanged) await setSignInSettings(tx, orgId, signIn);
  const endedCount = endSessions ? await endSingleFactorSessions(tx, orgId, at, credentialId) : 0;
  if (isChanged || endedCount > 0)
    await record({
      action: 'configuration.sign_in_saved',
      subjectId: orgId,
      changes,
      detail: endedCount > 0 ? { sessionsEnded: String(endedCount) } : {},
    });
  return { signIn, endedCount };
}

/**
 * Takes effect immediately, also for codes that were mailed before.
 *
 * @returns the settings, and how many sessions were ended.
 * @throws AppError 400 when sessions are to end although no second factor is required; 403 ADMIN_REQUIRED.
 */
export const saveSignInSettings = (
  ctx: SignInSettingsContext,
  caller: Caller,
  body: SaveSignInSettingsBody,
) => changeAsAdministrator(ctx, caller, (administration) => saveIn(administration, caller, body));
