import { AppError, type Clock, conflict, notFound } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma, Transaction } from '../prisma.js';
import { platformActor } from '../base/caller/actor.js';
import { findChanges } from '../audit/changes.js';
import { insertAuditEntry } from '../audit/record.sql.js';
import { deleteSecrets } from '../mails/one-time-secrets/queries.js';
import { notifyByCommand } from '../sign-in/identity-provider/notices.js';
import type { Alert } from '../mails/alerts.js';
import { notifyOfCommand } from '../members/operator-notices/notify.js';
import {
  isProviderRequired,
  releaseRequirement,
} from '../members/organisation/provider-requirement.queries.js';
import { assertUncommonPassword } from '../base/common-passwords.js';
import type { Passwords } from '../base/passwords.js';
import { endSessions } from '../sign-in/sessions/queries.js';
import { emailTaken } from '../members/members/errors.js';
import { type Account, findUserByEmail, insertUser, setAdministrator } from '../members/members/queries.js';
import { normaliseEmail } from '../members/members/service.js';
import { findOrganisations } from '../members/organisation/queries.js';
import { lockOrganisation } from '../members/organisation/organisation.sql.js';

/** The number of organisations that the error lists when one has to be chosen. */
const MAX_LISTED = 20;

export interface AdministratorRequest {
  readonly email: string;
  readonly password: string;
  /** Required for a new member when there are several organisations. */
  readonly orgId: string | undefined;
}

export interface AdministratorResult {
  readonly orgId: string;
  readonly userId: string;
  readonly isNew: boolean;
  readonly sessionsEnded: number;
}

const orgRequired = (organisations: readonly { readonly id: string; readonly name: string }[]): AppError =>
  new AppError({
    status: 400,
    code: 'ORGANISATION_REQUIRED',
    message: [
      'Nobody has this e-mail address: say with --organisation <id> where the administrator is wanted',
      ...organisations.map(({ id, name }) => `  ${id}  ${name}`),
    ].join('\n'),
  });

async function findOrgId(tx: Transaction, orgId: string | undefined): Promise<string> {
  const organisations = await findOrganisations(tx, orgId, MAX_LISTED);
  const [only, ...others] = organisations;
  if (!only)
    throw notFound(
      orgId === undefined ? 'There is no organisation yet' : `There is no organisation ${orgId}`,
    );
  if (others.length > 0) throw orgRequired(organisations);
  return only.id;
}

/**
 * Makes the account an administrator with a new password, or creates one. It is for operators, when no administrator can
 * log in any more. The account's sessions, codes and links are revoked; its tokens stay. All administrators are mailed.
 *
 * @throws AppError 404 for an unknown organisation, 409 for a member of another one, 400 when none is named and there
 *   are several, or for a password that is easily guessed.
 */
export async function makeAdministrator(
  deps: { readonly prisma: Prisma; readonly passwords: Passwords; readonly clock: Clock },
  request: AdministratorRequest,
): Promise<AdministratorResult> {
  const email = normaliseEmail(request.email);
  assertUncommonPassword('password', request.password, { email });
  const passwordHash = await deps.passwords.hash(request.password);
  const at = new Date(deps.clock());
  const byCommand = { actor: platformActor, reason: 'command', at };

  /** The password would be of no use where the account has to sign in with the organisation's provider. */
  async function liftRequirement(tx: Transaction, orgId: string, userId: string): Promise<void> {
    if (!(await isProviderRequired(tx, userId)) || !(await releaseRequirement(tx, orgId, at))) return;
    const entry = { ...byCommand, orgId, subjectId: orgId } as const;
    await insertAuditEntry(tx, { ...entry, action: 'identity_provider.requirement_lifted' });
    await notifyByCommand(tx, orgId, { notice: 'requirementLifted' }, at);
  }

  const notify = (tx: Transaction, orgId: string, userId: string, alert: Alert) =>
    notifyOfCommand(tx, { orgId, userId, topic: 'administrator-by-command', alert, at });

  async function change(tx: Transaction, { id, orgId, role }: Account): Promise<AdministratorResult> {
    await lockOrganisation(tx, orgId);
    if (!(await setAdministrator(tx, id, passwordHash)))
      throw conflict('REMOVED', 'The member was just removed');
    await deleteSecrets(tx, id);
    const sessionsEnded = await endSessions(tx, id, at);
    const entry = { ...byCommand, orgId, subjectId: id };
    await liftRequirement(tx, orgId, id);
    if (role !== 'admin')
      await insertAuditEntry(tx, {
        ...entry,
        action: 'user.role_changed',
        changes: { role: { from: role, to: 'admin' } },
      });
    await insertAuditEntry(tx, {
      ...entry,
      action: 'password.changed',
      detail: { sessionsEnded: String(sessionsEnded) },
    });
    const alert: Alert =
      role === 'admin'
        ? { notice: 'administratorPasswordChanged', email }
        : { notice: 'administratorAdded', email, hasNewPassword: 'yes' };
    await notify(tx, orgId, id, alert);
    return { orgId, userId: id, isNew: false, sessionsEnded };
  }

  async function create(tx: Transaction): Promise<AdministratorResult> {
    const orgId = await findOrgId(tx, request.orgId);
    const user = { id: uuidv7(), orgId, email, fullName: 'Administrator', role: 'admin' } as const;
    if (!(await insertUser(tx, { ...user, passwordHash, createdAt: at }))) throw emailTaken();
    await liftRequirement(tx, orgId, user.id);
    const entry = { ...byCommand, orgId, subjectId: user.id };
    await insertAuditEntry(tx, {
      ...entry,
      action: 'user.created',
      changes: findChanges(undefined, user, ['email', 'fullName', 'role']),
    });
    await notify(tx, orgId, user.id, { notice: 'administratorAdded', email });
    return { orgId, userId: user.id, isNew: true, sessionsEnded: 0 };
  }

  return deps.prisma.$transaction(async (tx) => {
    const account = await findUserByEmail(tx, email);
    if (!account) return create(tx);
    if (request.orgId !== undefined && request.orgId !== account.orgId)
      throw conflict('OTHER_ORGANISATION', `${email} belongs to organisation ${account.orgId}`);
    return change(tx, account);
  });
}
