import { toDigest } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../../prisma.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { getSessionGenerations } from '../../members/organisation/queries.js';
import { isProviderRequired } from '../../members/organisation/provider-requirement.queries.js';
import type { ClientAddress } from '../../base/caller/client.js';
import { recordSignIn } from '../known-devices/service.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import type { SigningKeys } from '../../credentials/signing-keys/service.js';
import type { User } from '../../members/members/schemas.js';
import { providerRequired } from './errors.js';
import { endOldestSessions, insertSession } from './queries.js';
import type { LoginResponse } from './schemas.js';
import type { FirstFactor, SecondFactor } from './sign-in-outcome.js';

const SESSION_SECONDS = 24 * 60 * 60;
/** The open sessions of a member. One more ends the oldest of them. */
const MAX_SESSIONS = 100;

/** The factors with which the member authenticated. */
export interface SignInProof {
  readonly method: FirstFactor;
  readonly secondFactor?: SecondFactor;
}

/**
 * Opens a session for a member who has passed all factors. Only the steps of a sign-in call it: a first factor alone goes
 * through `PassFirstFactor`.
 *
 * @throws AppError 401 PROVIDER_REQUIRED for another first factor, where the organisation requires its provider.
 */
export async function openSession(
  { keys, outbox, clock }: { readonly keys: SigningKeys; readonly outbox: Outbox; readonly clock: Clock },
  tx: Transaction,
  user: User,
  client: ClientAddress,
  { method, secondFactor }: SignInProof,
): Promise<LoginResponse> {
  if (method !== 'provider' && (await isProviderRequired(tx, user.id))) throw providerRequired();
  const now = clock();
  const at = new Date(now);
  const issuedAt = Math.floor(now / 1_000);
  const expiresAt = new Date((issuedAt + SESSION_SECONDS) * 1_000);
  const id = uuidv7();
  const claims = { sub: user.id, org: user.orgId, jti: id, kind: 'session' as const, iat: issuedAt };
  const { token } = await keys.mint({ ...claims, exp: issuedAt + SESSION_SECONDS });
  const session = { id, orgId: user.orgId, userId: user.id, tokenHash: toDigest(token) };
  const origin = { address: client.address, userAgent: client.userAgent ?? null };
  const { providerGeneration, singleFactorGeneration } = await getSessionGenerations(tx, user.orgId);
  await insertSession(tx, {
    ...session,
    ...origin,
    firstFactor: method,
    providerGeneration: method === 'provider' ? providerGeneration : null,
    singleFactorGeneration: secondFactor === undefined ? singleFactorGeneration : null,
    createdAt: at,
    expiresAt,
  });
  const endedCount = await endOldestSessions(tx, user.id, at, MAX_SESSIONS);
  const isNewDevice = await recordSignIn(outbox, tx, user.id, client, at);
  await insertAuditEntry(tx, {
    orgId: user.orgId,
    action: 'session.created',
    // The factors of `method` and `secondFactor` authenticated the member.
    actor: { actorId: user.id, credential: null, client },
    subjectId: id,
    detail: {
      method,
      ...(secondFactor !== undefined && { secondFactor }),
      ...(endedCount > 0 && { sessionsEnded: String(endedCount) }),
      ...(isNewDevice && { device: 'new' }),
    },
    at,
  });
  return {
    accessToken: token,
    tokenType: 'Bearer',
    expiresIn: SESSION_SECONDS,
    expiresAt: expiresAt.toISOString(),
    user,
  };
}
