import type { Role, UserPrincipal } from '@platform/auth';
import { type Clock, type Page, type PageQuery, pageWindow, paginationOf } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../../resources.js';
import { insertAuditEntry } from '../audit/queries.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import type { Passwords } from '../sessions/passwords.js';
import {
  emailTaken,
  lastAdmin,
  mailUnavailable,
  sessionRequiredForAdmins,
  sessionRequiredForPasswords,
  userNotFound,
} from './errors.js';
import {
  countMembers,
  findMember,
  findMembers,
  hasOtherAdmin,
  insertUser,
  lockOrganisation,
  markRemoved,
  type MemberRow,
  updateUser,
} from './queries.js';
import type { ChangeUserBody, CreateUserBody, Member, User } from './schemas.js';

export interface UserService {
  list(principal: UserPrincipal, query: PageQuery): Promise<Page<Member>>;
  /**
   * Without a password the member is invited: they can't log in before they accept.
   *
   * @throws AppError 409 EMAIL_TAKEN; 403 SESSION_REQUIRED when a token would make an administrator;
   *   503 MAIL_UNAVAILABLE when nobody can be invited.
   */
  create(principal: UserPrincipal, body: CreateUserBody, requestId: string): Promise<User>;
  /** @throws AppError 404; 409 LAST_ADMIN; 403 SESSION_REQUIRED. */
  change(principal: UserPrincipal, userId: string, body: ChangeUserBody): Promise<User>;
  /** Stops the member's sessions and tokens at once. @throws AppError 404; 409 LAST_ADMIN. */
  remove(principal: UserPrincipal, userId: string): Promise<void>;
}

export const normaliseEmail = (email: string): string => email.trim().toLowerCase();

/**
 * A session has no scopes to bound it. A token that could make an administrator with a password
 * of its choice could log in as one: more than its owner gave it.
 */
function assertMayGrant(principal: UserPrincipal, role: Role | undefined): void {
  if (role === 'admin' && principal.kind !== 'session') throw sessionRequiredForAdmins();
}

function toMember({ passwordHash, undeliverableReason: reason, ...user }: MemberRow): Member {
  if (passwordHash !== null) return { ...user, invitation: null };
  return { ...user, invitation: reason === null ? { state: 'pending' } : { state: 'undeliverable', reason } };
}

export function createUserService(deps: {
  readonly prisma: Prisma;
  readonly passwords: Passwords;
  readonly outbox: Outbox;
  readonly clock: Clock;
}): UserService {
  const { prisma, passwords, outbox, clock } = deps;
  return {
    async list({ orgId }, query) {
      const total = await countMembers(prisma, orgId);
      const window = pageWindow(query, total);
      return {
        data: window ? (await findMembers(prisma, orgId, window)).map(toMember) : [],
        pagination: paginationOf(query, total),
      };
    },

    async create(principal, { email, fullName, role = 'member', password }, requestId) {
      assertMayGrant(principal, role);
      // Nor a member with a password of its choice: it could log in as that one, past its own scopes.
      if (password !== undefined && principal.kind !== 'session') throw sessionRequiredForPasswords();
      const { orgId, userId: actorId } = principal;
      const isInvited = password === undefined;
      if (isInvited && !outbox.isEnabled) throw mailUnavailable();
      const passwordHash = isInvited ? null : await passwords.hash(password);
      const at = new Date(clock());
      const user = { id: uuidv7(), orgId, email: normaliseEmail(email), fullName: fullName.trim(), role };
      const made = await prisma.$transaction(async (tx) => {
        const created = await insertUser(tx, { ...user, passwordHash, createdAt: at });
        if (!created) throw emailTaken();
        await insertAuditEntry(tx, {
          orgId, action: isInvited ? 'user.invited' : 'user.created', actorId, subjectId: user.id, detail: { role }, at,
        }); // prettier-ignore
        const kind = isInvited ? 'invitation' : 'account_created';
        const detail = isInvited ? { invitedBy: principal.fullName } : {};
        await outbox.add(tx, { kind, to: { userId: user.id }, detail, requestId }, at);
        return created;
      });
      outbox.wake();
      return made;
    },

    async change(principal, userId, { fullName, role }) {
      assertMayGrant(principal, role);
      const { orgId, userId: actorId } = principal;
      const at = new Date(clock());
      return prisma.$transaction(async (tx) => {
        await lockOrganisation(tx, orgId);
        const user = await findMember(tx, orgId, userId);
        if (!user) throw userNotFound();
        if (user.role === 'admin' && role === 'member' && !(await hasOtherAdmin(tx, orgId, userId)))
          throw lastAdmin();
        const changed = await updateUser(tx, userId, {
          ...(fullName === undefined ? {} : { fullName: fullName.trim() }),
          ...(role === undefined ? {} : { role }),
        });
        const isNewRole = role !== undefined && role !== user.role;
        await insertAuditEntry(tx, {
          orgId,
          action: isNewRole ? 'user.role_changed' : 'user.changed',
          actorId,
          subjectId: userId,
          detail: isNewRole ? { from: user.role, to: role } : {},
          at,
        });
        return changed;
      });
    },

    async remove({ orgId, userId: actorId }, userId) {
      const at = new Date(clock());
      await prisma.$transaction(async (tx) => {
        await lockOrganisation(tx, orgId);
        const user = await findMember(tx, orgId, userId);
        if (!user) throw userNotFound();
        if (user.role === 'admin' && !(await hasOtherAdmin(tx, orgId, userId))) throw lastAdmin();
        await markRemoved(tx, userId, at);
        await insertAuditEntry(tx, { orgId, action: 'user.removed', actorId, subjectId: userId, at });
      });
    },
  };
}
