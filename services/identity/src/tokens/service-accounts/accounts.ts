import { canServiceAccountHoldScope, isScope, type Role } from '@platform/auth';
import {
  type AppError,
  conflict,
  type FaultDetail,
  type ListPage,
  notFound,
  readListPage,
  type SearchQuery,
  validationError,
} from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { AuditAction } from '../../audit/actions.js';
import { findChanges } from '../../audit/changes.js';
import type { Changes } from '../../audit/record.sql.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import { endServerCredentials } from '../../members/server-credentials/server-credentials.sql.js';
import type { Prisma, Transaction } from '../../prisma.js';
import type { TokenContext } from '../context.js';
import { type CreatedToken, createTokenFor, listScopeGroups } from '../create.js';
import { assertScopesAllowed } from '../policy/policy.js';
import { findTokenPolicy } from '../policy/queries.js';
import type { GrantableScopes } from '../schemas.js';
import {
  type AccountRow,
  countAccounts,
  findAccount,
  findAccounts,
  insertAccount,
  updateAccount,
} from './queries.js';
import type { Account, ChangeAccountBody, CreateAccountBody, CreateAccountTokenBody } from './schemas.js';

/* The service accounts of an organisation, which administrators manage, and the tokens that act as them. */

type AccountContext = Pick<TokenContext, 'prisma' | 'clock'>;

/** The error is the same for an account that is unknown, was removed, or belongs to another organisation. */
const accountNotFound = (): AppError => notFound('Service account not found');
export const accountOfApplication = (): AppError =>
  conflict('APPLICATION_ACCOUNT', 'The account belongs to an application: change or remove that one');

const toAccount = ({ clients, createdAt, lastUsedAt, ...account }: AccountRow): Account => ({
  ...account,
  clientId: clients[0]?.id ?? null,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});

const auditFields = ['name', 'role'] as const;

/** Runs a change of an administrator, and records it. */
const changeIn = (
  ctx: AccountContext,
  caller: Caller,
  action: AuditAction,
  run: (tx: Transaction, at: Date) => Promise<{ readonly row: AccountRow; readonly changes?: Changes }>,
): Promise<Account> =>
  changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const { row, changes = {} } = await run(tx, at);
    await record({ action, subjectId: row.id, changes });
    return toAccount(row);
  });

async function find(db: Prisma | Transaction, orgId: string, id: string): Promise<AccountRow> {
  const row = await findAccount(db, orgId, id);
  if (!row) throw accountNotFound();
  return row;
}

/** Finds an account that no application manages. @throws AppError 404; 409. */
async function findOwn(tx: Transaction, orgId: string, id: string): Promise<AccountRow> {
  const row = await find(tx, orgId, id);
  if (row.clients.length > 0) throw accountOfApplication();
  return row;
}

/** Lists all accounts, those of applications included. */
export const listAccounts = (
  { prisma }: AccountContext,
  { orgId }: { readonly orgId: string },
  query: SearchQuery,
): Promise<ListPage<Account>> =>
  readListPage(query, {
    count: () => countAccounts(prisma, orgId, query.q),
    find: (window) => findAccounts(prisma, orgId, window, query.q),
    toItem: toAccount,
  });

/** @throws AppError 404. */
export const getAccountOf = async (
  { prisma }: AccountContext,
  { orgId }: { readonly orgId: string },
  id: string,
): Promise<Account> => toAccount(await find(prisma, orgId, id));

export const createAccount = (
  ctx: AccountContext,
  caller: Caller,
  { name, role = 'member' }: CreateAccountBody,
): Promise<Account> =>
  changeIn(ctx, caller, 'service_account.created', async (tx, createdAt) => {
    const account = {
      id: uuidv7(),
      orgId: caller.orgId,
      name: name.trim(),
      role,
      createdAt,
      createdBy: caller.userId,
    };
    const row = await insertAccount(tx, account);
    return { row, changes: findChanges(undefined, row, auditFields) };
  });

/** Changes an account; its tokens follow at once. @throws AppError 404; 409 for that of an application. */
export const changeAccount = (
  ctx: AccountContext,
  caller: Caller,
  id: string,
  { name, role }: ChangeAccountBody,
): Promise<Account> =>
  changeIn(ctx, caller, 'service_account.changed', async (tx) => {
    const before = await findOwn(tx, caller.orgId, id);
    const row = await updateAccount(tx, id, {
      ...(name !== undefined && { name: name.trim() }),
      ...(role !== undefined && { role }),
    });
    return { row, changes: findChanges(before, row, auditFields) };
  });

/** Removes an account; its tokens end at once. @throws AppError 404; 409 for that of an application. */
export const removeAccount = (ctx: AccountContext, caller: Caller, id: string): Promise<Account> =>
  changeIn(ctx, caller, 'service_account.removed', async (tx, removedAt) => {
    await findOwn(tx, caller.orgId, id);
    const row = await updateAccount(tx, id, { removedAt });
    const why = { actor: toActor(caller), at: removedAt, reason: 'account_removed' } as const;
    await endServerCredentials(tx, { accountId: id }, why);
    return { row };
  });

function describeFault(scope: string): string {
  if (!isScope(scope)) return `unknown scope ${JSON.stringify(scope)}`;
  return canServiceAccountHoldScope(scope, 'admin')
    ? `${scope} can be held only by a service account that is an administrator`
    : `${scope} depends on a person`;
}

/** @throws AppError 400 that names each scope that a service account with the role can't hold. */
function assertHoldable(scopes: readonly string[], role: Role): void {
  const faults: FaultDetail[] = scopes.flatMap((scope, index) =>
    canServiceAccountHoldScope(scope, role)
      ? []
      : [{ field: `scopes.${index}`, message: describeFault(scope) }],
  );
  if (faults.length > 0) throw validationError(faults);
}

/** Lists the scopes that a token of the account can have, by category. */
export async function listAccountScopes(
  { prisma }: TokenContext,
  { orgId }: Pick<Caller, 'orgId'>,
  { role }: Account,
): Promise<GrantableScopes['scopes']> {
  const { deniedScopes } = await findTokenPolicy(prisma, orgId);
  return listScopeGroups(
    [],
    (scope) => canServiceAccountHoldScope(scope, role as Role) && !deniedScopes.includes(scope),
  );
}

/** Creates a token that acts as the account. Its value is returned only here. @throws AppError 400. */
export async function createAccountToken(
  ctx: TokenContext,
  caller: Caller,
  { id, name: accountName, role }: Account,
  body: CreateAccountTokenBody,
): Promise<CreatedToken> {
  assertHoldable(body.scopes, role as Role);
  const scopes = [...new Set(body.scopes)];
  const policy = await findTokenPolicy(ctx.prisma, caller.orgId);
  assertScopesAllowed(policy, scopes);
  const owner = { id, isServiceAccount: true };
  return createTokenFor(ctx, caller, policy, { ...body, owner, accountName, scopes });
}
