import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../../prisma.js';
import type { Actor } from '../../base/caller/actor.js';
import { findChanges } from '../../audit/changes.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import type { ClientAddress } from '../../base/caller/client.js';
import { getDomain } from '../identity-provider/domain.js';
import { notifyMember } from '../identity-provider/notices.js';
import { findLink, isVerifiedDomain, type StoredProvider } from '../identity-provider/queries.js';
import { lockFactors } from '../second-factor/queries.js';
import { isProven } from '../../base/passwords.js';
import {
  type Account,
  findMember,
  findUserByEmail,
  insertUser,
  setFirstPassword,
  withdrawLapsedInvitations,
} from '../../members/members/queries.js';
import type { ProviderSignInContext } from './context.js';
import { Refused } from './errors.js';
import type { Person } from './person.js';
import { findLinkedUser, insertLink, wasMember } from './queries.js';
import { revokeSecrets } from '../../mails/one-time-secrets/service.js';

/** Another sign-in has changed the same account at the same moment: the transaction is to be run again. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/** A member who never chose a password has an unknown random one, so that they can choose one by mail. */
const createUnknownPassword = ({ passwords }: ProviderSignInContext) =>
  passwords.hash(randomBytes(32).toString('base64url'), isProven);

async function lock(tx: Transaction, orgId: string, userId: string): Promise<Account> {
  const isLocked = await lockFactors(tx, { orgId, userId });
  const account = isLocked ? await findMember(tx, orgId, userId) : null;
  if (!account) throw new Overtaken();
  return account;
}

async function acceptInvitation(
  ctx: ProviderSignInContext,
  tx: Transaction,
  { id, orgId }: Account,
  actor: Actor,
  at: Date,
) {
  const passwordHash = await createUnknownPassword(ctx);
  if (!(await setFirstPassword(tx, id, passwordHash, undefined))) throw new Overtaken();
  await revokeSecrets(tx, id);
  await insertAuditEntry(tx, {
    orgId,
    actor,
    subjectId: id,
    action: 'invitation.accepted',
    reason: 'provider',
    at,
  });
  return passwordHash;
}

async function create(
  ctx: ProviderSignInContext,
  tx: Transaction,
  orgId: string,
  person: Person,
  client: ClientAddress,
  at: Date,
) {
  const { email, fullName } = person;
  const user = { id: uuidv7(), orgId, email, fullName, role: 'member' } as const;
  const passwordHash = await createUnknownPassword(ctx);
  if (!(await insertUser(tx, { ...user, passwordHash, createdAt: at }))) throw new Overtaken();
  const changes = findChanges(undefined, user, ['email', 'fullName', 'role']);
  const actor = { actorId: user.id, credential: null, client };
  await insertAuditEntry(tx, {
    orgId,
    actor,
    subjectId: user.id,
    action: 'user.created',
    reason: 'provider',
    changes,
    at,
  });
  const requestId = client.requestId;
  await ctx.outbox.add(tx, { kind: 'account_created', to: { userId: user.id }, requestId }, at);
  return { ...user, passwordHash };
}

/** Links the account with the subject, until the member or an administrator disconnects it. */
async function link(
  ctx: ProviderSignInContext,
  tx: Transaction,
  { orgId, issuer }: StoredProvider,
  { subject }: Person,
  account: Account,
  { client, at }: { readonly client: ClientAddress; readonly at: Date },
): Promise<void> {
  await insertLink(tx, { orgId, issuer, subject }, account.id, at);
  const actor = { actorId: account.id, credential: null, client };
  const entry = {
    orgId,
    actor,
    subjectId: account.id,
    detail: { issuer, subject: subject.slice(0, 255) },
    at,
  };
  await insertAuditEntry(tx, { ...entry, action: 'identity_provider.linked' });
  await notifyMember(ctx, tx, account.id, 'providerLinked', { client, at });
}

/**
 * Finds the member whom a subject of the provider signs in to, and locks the account. At the first time, that is the
 * member or invitee with the verified address, or a new member where the organisation wants that.
 *
 * @throws Refused when there is none, and Overtaken.
 */
export async function admit(
  ctx: ProviderSignInContext,
  tx: Transaction,
  provider: StoredProvider,
  person: Person,
  client: ClientAddress,
  at: Date,
): Promise<Account> {
  const { orgId, issuer, isJustInTime } = provider;
  const { email, subject } = person;
  if (!(await isVerifiedDomain(tx, orgId, getDomain(email)))) throw new Refused('foreign_domain', email);
  const linked = await findLinkedUser(tx, { orgId, issuer, subject });
  if (linked && !linked.isRemoved) {
    const account = await lock(tx, orgId, linked.id);
    // The account may have been disconnected before it was locked.
    const current = await findLink(tx, { orgId, userId: account.id });
    if (current?.issuer !== issuer || current.subject !== subject) throw new Overtaken();
    return account;
  }

  const { text, values } = withdrawLapsedInvitations(at, 1, email);
  await tx.$executeRawUnsafe(text, ...values);
  const found = await findUserByEmail(tx, email);
  if (found && found.orgId !== orgId) throw new Refused('other_organisation', email);
  if (found) {
    const account = await lock(tx, orgId, found.id);
    if (await findLink(tx, { orgId, userId: account.id })) throw new Refused('other_subject', email);
    const actor = { actorId: account.id, credential: null, client };
    const passwordHash = account.passwordHash ?? (await acceptInvitation(ctx, tx, account, actor, at));
    await link(ctx, tx, provider, person, account, { client, at });
    return { ...account, passwordHash };
  }
  // Nobody whom an administrator has removed comes back by themselves.
  if (linked || (await wasMember(tx, orgId, email))) throw new Refused('was_removed', email);
  if (!isJustInTime) throw new Refused('not_a_member', email);
  const account = await create(ctx, tx, orgId, person, client, at);
  await link(ctx, tx, provider, person, account, { client, at });
  return account;
}
