import type { Bounds } from '@platform/auth';
import { type ListPage, readListPage, type SearchQuery } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { type Caller, toActor } from '../../base/caller/actor.js';
import {
  listBoundChoices,
  type NamedBounds,
  readBounds,
  toStoredBounds,
} from '../../credentials/bounds/bounds.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import { endServerCredentials } from '../../members/server-credentials/server-credentials.sql.js';
import type { Prisma, Transaction } from '../../prisma.js';
import {
  type ApplicationContext,
  describeBoundsOf,
  findApplicationChanges,
  requireApplication,
  toApplication,
  toShape,
} from './application.js';
import {
  type ApplicationRow,
  countApplications,
  findApplications,
  insertApplication,
  removeApplication,
  revokeAccessTokens,
  updateApplication,
  updateServiceAccount,
} from './queries.js';
import { assertApplication } from './rules.js';
import type { Application, ChangeApplicationBody, CreateApplicationBody } from './schemas.js';
import { addSecret } from './secrets.js';

const showApplication = async (
  db: Prisma | Transaction,
  orgId: string,
  row: ApplicationRow,
): Promise<Application> => toApplication(row, await describeBoundsOf(db, orgId, [row]));

/** Administrators can choose what is for groups that they are not in themselves. @throws AppError 400. */
const readOwnBounds = async (tx: Transaction, orgId: string, given: NamedBounds): Promise<Bounds | null> =>
  toStoredBounds(await readBounds(tx, { orgId, groups: null }, given));

export function listApplications(
  { prisma }: ApplicationContext,
  { orgId }: { readonly orgId: string },
  query: SearchQuery,
): Promise<ListPage<Application>> {
  return readListPage(query, {
    count: () => countApplications(prisma, orgId, query.q),
    find: async (window) => {
      const rows = await findApplications(prisma, orgId, window, query.q);
      const describeBounds = await describeBoundsOf(prisma, orgId, rows);
      return rows.map((row) => ({ id: row.id, item: toApplication(row, describeBounds) }));
    },
    toItem: ({ item }) => item,
  });
}

/** @throws AppError 404. */
export async function getApplication(
  { prisma }: ApplicationContext,
  { orgId }: { readonly orgId: string },
  clientId: string,
): Promise<Application> {
  return showApplication(prisma, orgId, await requireApplication(prisma, orgId, clientId));
}

/** Lists what an application can be limited to when it acts as its service account. */
export function listApplicationBounds(
  { prisma }: ApplicationContext,
  { orgId }: { readonly orgId: string },
): Promise<Required<NamedBounds>> {
  return listBoundChoices(prisma, { orgId, groups: null });
}

/**
 * Registers an application. With client_credentials it gets a service account, and with a secret its first one.
 *
 * @throws AppError 400.
 */
export async function createApplication(
  ctx: ApplicationContext,
  caller: Caller,
  body: CreateApplicationBody,
): Promise<{ readonly application: Application; readonly clientSecret: string | null }> {
  const shape = {
    grantTypes: [...new Set(body.grantTypes)],
    scopes: [...new Set(body.scopes)],
    redirectUris: [...new Set(body.redirectUris)],
    authMethod: body.authMethod ?? 'client_secret_basic',
    jwks: body.jwks ?? null,
    role: body.role ?? 'member',
    isLimited: body.bounds !== undefined,
  };
  assertApplication(shape);
  return changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const { role, isLimited: _, ...rest } = shape;
    const id = uuidv7();
    const { orgId } = caller;
    const serviceAccount = shape.grantTypes.includes('client_credentials')
      ? { id: uuidv7(), role, createdBy: caller.userId }
      : null;
    await insertApplication(tx, {
      ...rest,
      id,
      orgId,
      name: body.name.trim(),
      serviceAccount,
      bounds: body.bounds ? await readOwnBounds(tx, orgId, body.bounds) : null,
      createdAt: at,
    });
    const secret = shape.authMethod === 'client_secret_basic' ? await addSecret(tx, id, at) : null;
    const row = await requireApplication(tx, orgId, id);
    const describeBounds = await describeBoundsOf(tx, orgId, [row]);
    const changes = findApplicationChanges(undefined, row, describeBounds);
    await record({ action: 'application.created', subjectId: id, changes });
    return {
      application: toApplication(row, describeBounds),
      clientSecret: secret?.clientSecret ?? null,
    };
  });
}

/** Changes an application; its tokens follow at once, and those of a disabled one end. @throws AppError 400; 404. */
export function changeApplication(
  ctx: ApplicationContext,
  caller: Caller,
  clientId: string,
  body: ChangeApplicationBody,
): Promise<Application> {
  return changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const { orgId } = caller;
    const before = await requireApplication(tx, orgId, clientId);
    const { role, isDisabled, bounds, ...rest } = body;
    const accountRole = role ?? before.serviceAccount?.role ?? 'member';
    assertApplication({ ...toShape(before), ...rest, role: accountRole, isLimited: !!bounds });
    const disabledAt = isDisabled ? (before.disabledAt ?? at) : null;
    // The client comes before its account, in the order in which last uses lock them.
    await updateApplication(tx, clientId, {
      ...rest,
      ...(body.name === undefined ? {} : { name: body.name.trim() }),
      ...(isDisabled === undefined ? {} : { disabledAt }),
      ...(bounds !== undefined && { bounds: bounds && (await readOwnBounds(tx, orgId, bounds)) }),
    });
    if (before.serviceAccount)
      await updateServiceAccount(tx, before.serviceAccount.id, {
        role: accountRole,
        ...(body.name === undefined ? {} : { name: body.name.trim() }),
      });
    if (isDisabled) await revokeAccessTokens(tx, clientId, at);
    const after = await requireApplication(tx, orgId, clientId);
    const describeBounds = await describeBoundsOf(tx, orgId, [before, after]);
    const changes = findApplicationChanges(before, after, describeBounds);
    await record({ action: 'application.changed', subjectId: clientId, changes });
    return toApplication(after, describeBounds);
  });
}

/** Removes an application with its service account; its tokens and connections end at once. @throws AppError 404. */
export function deleteApplication(ctx: ApplicationContext, caller: Caller, clientId: string): Promise<void> {
  return changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const { serviceAccount } = await requireApplication(tx, caller.orgId, clientId);
    await removeApplication(tx, clientId, at);
    if (serviceAccount) {
      await updateServiceAccount(tx, serviceAccount.id, { removedAt: at });
      await endServerCredentials(
        tx,
        { accountId: serviceAccount.id },
        { actor: toActor(caller), at, reason: 'account_removed' },
      );
    }
    await record({ action: 'application.removed', subjectId: clientId });
  });
}
