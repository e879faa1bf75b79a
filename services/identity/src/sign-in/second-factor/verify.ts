import { validationError } from '@platform/service-kit';
import type { Transaction } from '../../prisma.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import type { ClientAddress } from '../../base/caller/client.js';
import { checkPasskey } from '../passkeys/check-passkey.js';
import type { PasskeyAssertion } from '../passkeys/schemas.js';
import type { SecondFactor } from '../sessions/sign-in-outcome.js';
import { checkCode, type CheckResult } from './check.js';
import type { SecondFactorContext } from './context.js';
import { addNotice } from './notices.js';
import type { Member } from './queries.js';

/** The second factor that a person presents: a code of the app, a recovery code, or the assertion of a passkey. */
export type Presented = { readonly code: string } | { readonly passkey: PasskeyAssertion };

/** Returns the factor that a request presents, or undefined. @throws AppError 400 when it presents two. */
export function toPresented({
  code = '',
  passkey,
}: {
  readonly code?: string | undefined;
  readonly passkey?: PasskeyAssertion | undefined;
}): Presented | undefined {
  if (passkey === undefined) return code === '' ? undefined : { code };
  if (code !== '') throw validationError([{ field: 'passkey', message: 'must not come with a code' }]);
  return { passkey };
}

export type FactorCheck =
  | { readonly factor: SecondFactor }
  | Extract<CheckResult, { readonly fault: string }>
  | { readonly fault: 'refused' };

interface VerifyRequest {
  readonly client: ClientAddress;
  readonly at: Date;
  /** The session or pending sign-in that a passkey's challenge was given to. */
  readonly holder: string;
}
type VerifyContext = Pick<SecondFactorContext, 'box' | 'outbox' | 'relyingParty'>;

/** Audits that a passkey seems to be copied, and mails its owner. */
export async function reportCopy(
  ctx: Pick<SecondFactorContext, 'outbox'>,
  tx: Transaction,
  { orgId, userId }: Member,
  name: string,
  { client, at }: Pick<VerifyRequest, 'client' | 'at'>,
): Promise<void> {
  await insertAuditEntry(tx, {
    orgId,
    action: 'second_factor.counter_fell',
    actor: { actorId: null, credential: null, client },
    subjectId: userId,
    detail: { factor: 'passkey', name },
    at,
  });
  await addNotice(ctx, tx, userId, 'passkeyCopied', { client, at });
}

async function verifyPasskey(
  ctx: VerifyContext,
  tx: Transaction,
  member: Member,
  assertion: PasskeyAssertion,
  request: VerifyRequest,
): Promise<FactorCheck> {
  const checked = await checkPasskey(tx, ctx.relyingParty, member, assertion, request);
  if (!('fault' in checked)) return { factor: 'passkey' };
  if (checked.fault === 'counterFell') await reportCopy(ctx, tx, member, checked.passkey.name, request);
  return { fault: 'refused' };
}

/**
 * Checks a second factor and uses up what was presented. Mails the member that a recovery code was used, that too many
 * codes were wrong, or that a passkey seems to be copied. The caller holds the lock of the factors and commits the
 * transaction in any case.
 */
export async function verifyFactor(
  ctx: VerifyContext,
  tx: Transaction,
  member: Member,
  presented: Presented,
  request: VerifyRequest,
): Promise<FactorCheck> {
  if ('passkey' in presented) return verifyPasskey(ctx, tx, member, presented.passkey, request);
  const checked = await checkCode(tx, ctx.box, member, { code: presented.code, at: request.at });
  if ('fault' in checked) {
    if (checked.fault === 'lastWrong')
      await addNotice(ctx, tx, member.userId, 'secondFactorGuessed', request);
  } else if (checked.factor === 'recovery_code')
    await addNotice(ctx, tx, member.userId, 'recoveryCodeUsed', request);
  return checked;
}
