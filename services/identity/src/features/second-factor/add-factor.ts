import type { Transaction } from '../../resources.js';
import type { SecretBox } from '../../secret-box.js';
import type { Actor } from '../audit/actor.js';
import { insertAuditEntry } from '../audit/queries.js';
import { totpContext } from './check.js';
import { renewRecoveryCodes } from './factors.js';
import type { AddNotice } from './notices.js';
import { countRecoveryCodes, saveTotp } from './queries.js';

/** An authenticator app that was confirmed. It takes the place of an earlier one. */
export interface ConfirmedTotp {
  readonly secret: string;
  readonly step: number;
}

/**
 * Stores a confirmed factor, audits it and mails the member, in one transaction.
 *
 * @returns recovery codes when the account has none; null when it keeps those that it has.
 */
export type AddFactor = (
  tx: Transaction,
  member: { readonly orgId: string; readonly userId: string },
  factor: ConfirmedTotp,
  by: { readonly actor: Actor; readonly at: Date },
) => Promise<string[] | null>;

export const createAddFactor =
  ({ box, addNotice }: { readonly box: SecretBox; readonly addNotice: AddNotice }): AddFactor =>
  async (tx, { orgId, userId }, { secret, step }, { actor, at }) => {
    const secretSealed = box.seal(secret, totpContext(userId));
    await saveTotp(tx, { orgId, userId }, { secretSealed, lastStep: step, createdAt: at });
    const entry = { orgId, subjectId: userId, actor, at, detail: { factor: 'totp' } };
    await insertAuditEntry(tx, { ...entry, action: 'second_factor.enrolled' });
    await addNotice(tx, userId, 'enrolled', { client: actor.client, at });
    return (await countRecoveryCodes(tx, userId)) > 0 ? null : renewRecoveryCodes(tx, userId, at);
  };
