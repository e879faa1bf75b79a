import type { Clock } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import { toActor, type Caller } from '../audit/actor.js';
import { insertAuditEntry } from '../audit/queries.js';
import { areCodesEnabled, setCodesEnabled } from '../organisations/queries.js';
import { lockAdministration } from '../users/administration.js';
import type { SignInSettings } from './schemas.js';

export interface SignInSettingsService {
  get(orgId: string): Promise<SignInSettings>;
  /** Takes effect immediately, also for codes that were mailed before. @throws AppError 403 ADMIN_REQUIRED. */
  save(caller: Caller, settings: SignInSettings): Promise<SignInSettings>;
}

export function createSignInSettings(deps: {
  readonly prisma: Prisma;
  readonly clock: Clock;
}): SignInSettingsService {
  const { prisma, clock } = deps;
  return {
    get: async (orgId) => ({ codesEnabled: await areCodesEnabled(prisma, orgId) }),
    async save(caller, { codesEnabled }) {
      const { orgId } = caller;
      await prisma.$transaction(async (tx) => {
        await lockAdministration(tx, caller);
        const before = await areCodesEnabled(tx, orgId);
        if (before === codesEnabled) return;
        await setCodesEnabled(tx, orgId, codesEnabled);
        await insertAuditEntry(tx, {
          orgId,
          action: 'configuration.sign_in_saved',
          actor: toActor(caller),
          subjectId: orgId,
          changes: { codesEnabled: { from: String(before), to: String(codesEnabled) } },
          at: new Date(clock()),
        });
      });
      return { codesEnabled };
    },
  };
}
