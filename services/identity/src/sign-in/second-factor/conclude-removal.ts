import type { Transaction } from '../../prisma.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { deleteChallenges } from '../passkeys/challenges.js';
import type { SecondFactorContext } from './context.js';
import { lastSecondFactor } from './errors.js';
import { hasSecondFactor } from './factors.js';
import { addNotice } from './notices.js';
import { deleteRecoveryCodes, holdSecondFactorRequired } from './queries.js';

/**
 * Does what follows the deletion of one of the caller's own factors, in its transaction: recovery codes end with the last
 * factor; the removal is audited and mailed.
 *
 * @throws AppError 409 LAST_SECOND_FACTOR when the organisation requires one.
 */
export async function concludeRemoval(
  ctx: Pick<SecondFactorContext, 'outbox'>,
  tx: Transaction,
  caller: Caller,
  removed: { readonly factor: 'totp' } | { readonly factor: 'passkey'; readonly name: string },
  at: Date,
): Promise<void> {
  const { orgId, userId, client } = caller;
  if (!(await hasSecondFactor(tx, caller))) {
    if (await holdSecondFactorRequired(tx, orgId)) throw lastSecondFactor();
    await deleteRecoveryCodes(tx, userId);
  }
  await deleteChallenges(tx, userId);
  const entry = { orgId, actor: toActor(caller), subjectId: userId, at, detail: { ...removed } };
  await insertAuditEntry(tx, { ...entry, action: 'second_factor.removed' });
  await addNotice(ctx, tx, userId, removed.factor === 'totp' ? 'authenticatorRemoved' : 'passkeyRemoved', {
    client,
    at,
  });
}
