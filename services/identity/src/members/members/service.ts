import type { AccountPrincipal } from '@platform/auth';
import {
  type AppError,
  type Clock,
  DAY_MS,
  type ListPage,
  readEmailAddress,
  readListPage,
  toPagination,
} from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma, Transaction } from '../../prisma.js';
import { toActor, type Caller } from '../../base/caller/actor.js';
import { findChanges } from '../../audit/changes.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { hasAdministrator } from '../organisation/provider-requirement.queries.js';
import { secretLifetimes } from '../../mails/one-time-secrets/secret.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { assertUncommonPassword } from '../../base/common-passwords.js';
import type { Passwords } from '../../base/passwords.js';
import { changeAsAdministrator } from '../organisation/administration.js';
import { isOfOtherOrganisation } from '../organisation/domains.queries.js';
import {
  emailTaken,
  emailTakenHere,
  invitationAccepted,
  isEmailTaken,
  lastAdmin,
  mailUnavailable,
  sessionRequiredForAdmins,
  userNotFound,
} from './errors.js';
import {
  countMembers,
  findMemberRow,
  findMembers,
  findMemberUse,
  type MemberRow,
  type Account,
  findMember,
  findUserByEmail,
  insertUser,
  markRemoved,
  searchMembers,
  updateUser,
} from './queries.js';
import type {
  ChangeUserBody,
  CreateUserBody,
  Member,
  MemberDetails,
  MemberQuery,
  RemoveUserQuery,
  User,
} from './schemas.js';

/** Converts all spellings of an address to one: lower case, NFC, the domain in ASCII. */
export function normaliseEmail(email: string): string {
  const text = email.trim().toLowerCase().normalize('NFC');
  return readEmailAddress(text) ?? text;
}

/** An invitation that lapses within this time needs somebody. */
const LAPSES_SOON_MS = 2 * DAY_MS;

/** Returns whether the account is the organisation's only administrator who can log in. */
export async function isLastAdmin(
  tx: Transaction,
  { id, orgId, role, passwordHash }: Account,
): Promise<boolean> {
  return role === 'admin' && passwordHash !== null && !(await hasAdministrator(tx, orgId, id));
}

function toMember({
  passwordHash,
  undeliverableReason: reason,
  isDeliveryUnknown,
  totpFactor,
  passkeys,
  providerLink,
  ...account
}: MemberRow): Member {
  const secondFactors: Member['secondFactors'] = [];
  if (totpFactor) secondFactors.push('totp');
  if (passkeys.length > 0) secondFactors.push('passkey');
  const user = { ...account, secondFactors, hasProviderIdentity: providerLink !== null };
  if (passwordHash !== null) return { ...user, invitation: null };
  if (reason === null) return { ...user, invitation: { state: 'pending' } };
  return { ...user, invitation: { state: isDeliveryUnknown ? 'unknown' : 'undeliverable', reason } };
}

export interface UserContext {
  readonly prisma: Prisma;
  readonly passwords: Passwords;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly findOrganisationName: (orgId: string) => Promise<string>;
}

/** Returns why an address is taken, as far as the organisation may know. */
async function explainTaken({ prisma }: UserContext, orgId: string, email: string): Promise<AppError> {
  const found = await findUserByEmail(prisma, email);
  return found?.orgId === orgId ? emailTakenHere(found.passwordHash === null) : emailTaken();
}

export async function listUsers(
  { clock, prisma }: UserContext,
  { orgId }: Pick<AccountPrincipal, 'orgId'>,
  { q, state, role, sort = 'newest', ...query }: MemberQuery,
): Promise<ListPage<Member>> {
  const stalledBefore = new Date(clock() - secretLifetimes.invitation + LAPSES_SOON_MS);
  const filter = { q, state, role, stalledBefore, isByName: sort === 'name' };
  const isSearch = filter.isByName || [q, state, role].some((given) => given !== undefined);
  if (!isSearch)
    return readListPage(query, {
      count: () => countMembers(prisma, orgId),
      find: (window) => findMembers(prisma, orgId, window),
      toItem: toMember,
    });
  const { page, limit, cursor } = query;
  const place = cursor === undefined ? { offset: (page - 1) * limit } : { offset: 0, afterId: cursor };
  const found = await searchMembers(prisma, orgId, filter, { ...place, limit });
  return {
    data: found.rows.map(toMember),
    pagination: toPagination(query, found.total, { isMinimum: found.totalIsMinimum }),
    nextCursor: found.nextCursor,
  };
}

/** @throws AppError 404. */
export async function getUser(
  { prisma }: UserContext,
  { orgId }: Pick<AccountPrincipal, 'orgId'>,
  id: string,
): Promise<MemberDetails> {
  const row = await findMemberRow(prisma, orgId, id);
  if (!row) throw userNotFound();
  const { groups, lastSeenAt } = await findMemberUse(prisma, id);
  return { ...toMember(row), groups: [...groups], lastSeenAt: lastSeenAt?.toISOString() ?? null };
}

/**
 * Creates a member. Without a password the member is invited, and can't log in before accepting.
 *
 * @throws AppError 400 for a password that is easily guessed; 409 EMAIL_TAKEN; 503 MAIL_UNAVAILABLE when there is no mail service to invite with.
 */
export async function createUser(
  ctx: UserContext,
  caller: Caller,
  { email, fullName, role = 'member', password }: CreateUserBody,
): Promise<User> {
  const { orgId } = caller;
  const isInvited = password === undefined;
  if (isInvited && !ctx.outbox.isEnabled) throw mailUnavailable();
  if (!isInvited) {
    const organisation = await ctx.findOrganisationName(orgId);
    assertUncommonPassword('password', password, { email, fullName, organisation });
  }
  const passwordHash = isInvited ? null : await ctx.passwords.hash(password);
  const user = { id: uuidv7(), orgId, email: normaliseEmail(email), fullName: fullName.trim(), role };
  const member = await changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    if (await isOfOtherOrganisation(tx, orgId, user.email)) throw emailTaken();
    const created = await insertUser(tx, { ...user, passwordHash, createdAt: at });
    if (!created) throw emailTaken();
    await record({
      action: isInvited ? 'user.invited' : 'user.created',
      subjectId: user.id,
      changes: findChanges(undefined, user, ['email', 'fullName', 'role']),
    });
    const kind = isInvited ? 'invitation' : 'account_created';
    const detail = isInvited ? { invitedBy: caller.fullName } : {};
    const { requestId } = caller.client;
    await ctx.outbox.add(tx, { kind, to: { userId: user.id }, detail, requestId }, at);
    return created;
  }).catch(async (error: unknown) => {
    throw isEmailTaken(error) ? await explainTaken(ctx, orgId, user.email) : error;
  });
  ctx.outbox.wake();
  return member;
}

/** Changes the caller's own name. @throws AppError 404 when the caller was removed meanwhile. */
export function renameCaller(
  { clock, prisma }: UserContext,
  caller: Caller,
  fullName: string,
): Promise<User> {
  const { orgId, userId } = caller;
  const at = new Date(clock());
  return prisma.$transaction(async (tx) => {
    const user = await findMember(tx, orgId, userId);
    if (!user) throw userNotFound();
    const changed = await updateUser(tx, userId, { fullName: fullName.trim() });
    const changes = findChanges(user, changed, ['fullName']);
    await insertAuditEntry(tx, {
      orgId,
      action: 'user.changed',
      actor: toActor(caller),
      subjectId: userId,
      changes,
      at,
    });
    return changed;
  });
}

/** Changes a name or role. @throws AppError 404; 409 LAST_ADMIN; 403 SESSION_REQUIRED when a token changes a role. */
export async function changeUser(
  ctx: UserContext,
  caller: Caller,
  userId: string,
  { fullName, role }: ChangeUserBody,
): Promise<User> {
  if (role !== undefined && caller.kind !== 'session') throw sessionRequiredForAdmins();
  return changeAsAdministrator(ctx, caller, async ({ tx, record }) => {
    const user = await findMember(tx, caller.orgId, userId);
    if (!user) throw userNotFound();
    if (role === 'member' && (await isLastAdmin(tx, user))) throw lastAdmin();
    const changed = await updateUser(tx, userId, {
      ...(fullName === undefined ? {} : { fullName: fullName.trim() }),
      ...(role === undefined ? {} : { role }),
    });
    await record({
      action: changed.role === user.role ? 'user.changed' : 'user.role_changed',
      subjectId: userId,
      changes: findChanges(user, changed, ['fullName', 'role']),
    });
    return changed;
  });
}

/**
 * Removes a member, whose sessions and tokens are rejected from then on.
 *
 * @throws AppError 404; 409 LAST_ADMIN, or INVITATION_ACCEPTED when only an invitee is to be removed; 403
 *   SESSION_REQUIRED when a token would remove an administrator.
 */
export async function removeUser(
  ctx: UserContext,
  caller: Caller,
  userId: string,
  { state }: RemoveUserQuery,
): Promise<void> {
  const { orgId, kind } = caller;
  await changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const user = await findMember(tx, orgId, userId);
    if (!user) throw userNotFound();
    if (user.role === 'admin' && kind !== 'session') throw sessionRequiredForAdmins();
    if (await isLastAdmin(tx, user)) throw lastAdmin();
    if (!(await markRemoved(tx, userId, { actor: toActor(caller), at, state }))) throw invitationAccepted();
    await record({ action: 'user.removed', subjectId: userId });
  });
}
