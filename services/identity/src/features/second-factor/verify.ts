import type { Transaction } from '../../resources.js';
import type { SecretBox } from '../../secret-box.js';
import type { ClientAddress } from '../known-devices/client.js';
import { checkCode, type CheckResult } from './check.js';
import type { AddNotice } from './notices.js';

/** Checks a code as {@link checkCode} does, and mails the member that a recovery code was used, or too many were wrong. */
export type VerifyCode = (
  tx: Transaction,
  member: { readonly orgId: string; readonly userId: string },
  code: string,
  request: { readonly client: ClientAddress; readonly at: Date },
) => Promise<CheckResult>;

export const createVerifyCode =
  ({ box, addNotice }: { readonly box: SecretBox; readonly addNotice: AddNotice }): VerifyCode =>
  async (tx, member, code, request) => {
    const checked = await checkCode(tx, box, member, { code, at: request.at });
    if ('fault' in checked) {
      if (checked.fault === 'lastWrong') await addNotice(tx, member.userId, 'exhausted', request);
    } else if (checked.factor === 'recovery_code') await addNotice(tx, member.userId, 'used', request);
    return checked;
  };
