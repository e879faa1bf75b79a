import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import type { Outbox } from '../outgoing-mails/outbox.js';
import { findAffected } from './affected.js';
import { isRevoking } from './policy.js';
import { findUnfinishedSaves, type UnfinishedSave } from './revocation.queries.js';
import { revokeAffected } from './revoke-affected.js';

const EVERY_MS = 60_000;
const BATCH = 100;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** Until then, the request that saved the policy is likely to be revoking still. Both at once do no harm. */
const REQUEST_MS = 60_000;

/**
 * Finishes the revocations of saved policies whose request failed or whose replica died: the tokens that the policy would
 * not allow are revoked as by the request, in the name of whoever saved it. [PAT-30]
 */
export function createPolicyRevocationJob(deps: {
  readonly pool: pg.Pool;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}) {
  const { pool, outbox, clock, log } = deps;

  async function finish(save: UnfinishedSave, now: Date): Promise<void> {
    const { orgId, policy, savedBy } = save;
    const affected = await findAffected(pool, orgId, policy, now);
    const revocable = affected.filter(({ breaches }) => isRevoking(breaches));
    const by = { ...savedBy, orgId, kind: null, credentialId: null, client: null };
    const revokedCount = await revokeAffected({ pool, outbox }, save, by, revocable, now);
    log.info({ orgId, revokedCount }, 'finished the revocations of a token policy');
  }

  async function run(signal: AbortSignal): Promise<void> {
    const now = new Date(clock());
    const savedBefore = new Date(now.getTime() - REQUEST_MS);
    let after = FIRST_ID;
    while (!signal.aborted) {
      const saves = await findUnfinishedSaves(pool, { savedBefore, after, limit: BATCH });
      for (const save of saves) {
        if (signal.aborted) return;
        // One that fails is tried again in the next run, and holds up no other one.
        await finish(save, now).catch((error: unknown) =>
          log.warn(
            { err: error, orgId: save.orgId },
            'failed to revoke what a token policy does not allow; retrying',
          ),
        );
      }
      if (saves.length < BATCH) return;
      after = saves.at(-1)?.orgId ?? after;
    }
  }

  return createPeriodicTask({
    intervalMs: EVERY_MS,
    run,
    onError: (error) => log.warn({ err: error }, 'failed to find unfinished token policies; retrying'),
  });
}
