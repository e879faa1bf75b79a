import type { Transaction } from '../../prisma.js';
import type { Actor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { deleteChallenges } from '../passkeys/challenges.js';
import { passkeyExists, passkeyLimit } from '../passkeys/errors.js';
import { type Credential, findPasskeys, insertPasskey, MAX_PASSKEYS } from '../passkeys/queries.js';
import { totpContext } from './check.js';
import { renewRecoveryCodes } from './factors.js';
import type { SecondFactorContext } from './context.js';
import { addNotice } from './notices.js';
import { countRecoveryCodes, type Member, saveTotp } from './queries.js';

/** A factor that was confirmed. An authenticator app takes the place of an earlier one. */
export type ConfirmedFactor =
  | { readonly factor: 'totp'; readonly secret: string; readonly step: number }
  | { readonly factor: 'passkey'; readonly credential: Credential; readonly name: string };

async function addPasskey(
  tx: Transaction,
  member: Member,
  { credential, name }: Extract<ConfirmedFactor, { factor: 'passkey' }>,
  createdAt: Date,
): Promise<void> {
  if ((await findPasskeys(tx, member)).length >= MAX_PASSKEYS) throw passkeyLimit();
  if (!(await insertPasskey(tx, member, { ...credential, name, createdAt }))) throw passkeyExists();
}

/**
 * Stores a confirmed factor, audits it and mails the member, in one transaction. The caller holds the lock of the factors.
 *
 * @returns recovery codes when the account has none; null when it keeps its existing ones.
 * @throws AppError 409 PASSKEY_EXISTS, PASSKEY_LIMIT.
 */
export async function addFactor(
  ctx: Pick<SecondFactorContext, 'box' | 'outbox'>,
  tx: Transaction,
  { orgId, userId }: Member,
  confirmed: ConfirmedFactor,
  { actor, at }: { readonly actor: Actor; readonly at: Date },
): Promise<string[] | null> {
  if (confirmed.factor === 'totp') {
    const secretSealed = ctx.box.seal(confirmed.secret, totpContext(userId));
    await saveTotp(tx, { orgId, userId }, { secretSealed, lastStep: confirmed.step, createdAt: at });
  } else await addPasskey(tx, { orgId, userId }, confirmed, at);
  await deleteChallenges(tx, userId);
  const detail = {
    factor: confirmed.factor,
    ...(confirmed.factor === 'passkey' && { name: confirmed.name }),
  };
  const entry = { orgId, subjectId: userId, actor, at, detail };
  await insertAuditEntry(tx, { ...entry, action: 'second_factor.enrolled' });
  const notice = confirmed.factor === 'totp' ? 'authenticatorAdded' : 'passkeyAdded';
  await addNotice(ctx, tx, userId, notice, { client: actor.client, at });
  return (await countRecoveryCodes(tx, userId)) > 0 ? null : renewRecoveryCodes(tx, userId, at);
}
