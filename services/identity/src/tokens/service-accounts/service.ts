import {
  type AppError,
  type Clock,
  conflict,
  type ListPage,
  notFound,
  readListPage,
  type SearchQuery,
} from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { AuditAction } from '../../audit/actions.js';
import { findChanges } from '../../audit/changes.js';
import { type Changes, insertAuditEntry } from '../../audit/queries.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { lockAdministration } from '../../members/organisation/administration.js';
import type { Prisma, Transaction } from '../../resources.js';
import {
  type AccountRow,
  countAccounts,
  findAccount,
  findAccounts,
  insertAccount,
  updateAccount,
} from './queries.js';
import type { Account, ChangeAccountBody, CreateAccountBody } from './schemas.js';

/** The error is the same for an account that is unknown, was removed, or belongs to another organisation. */
const accountNotFound = (): AppError => notFound('Service account not found');
const accountOfApplication = (): AppError =>
  conflict('APPLICATION_ACCOUNT', 'The account belongs to an application: change or remove that one');

const toAccount = ({ clients, createdAt, lastUsedAt, ...account }: AccountRow): Account => ({
  ...account,
  clientId: clients[0]?.id ?? null,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});

const auditFields = ['name', 'role'] as const;

/** Creates the service with which administrators manage the service accounts of their organisation. */
export function createServiceAccounts({ prisma, clock }: { readonly prisma: Prisma; readonly clock: Clock }) {
  /** Runs a change of an administrator, and records it. @throws AppError 403 when the caller is none any more. */
  const change = (
    caller: Caller,
    action: AuditAction,
    run: (tx: Transaction, at: Date) => Promise<{ readonly row: AccountRow; readonly changes?: Changes }>,
  ): Promise<Account> =>
    prisma.$transaction(async (tx) => {
      await lockAdministration(tx, caller);
      const at = new Date(clock());
      const { row, changes = {} } = await run(tx, at);
      const { orgId } = caller;
      const actor = toActor(caller);
      await insertAuditEntry(tx, { orgId, action, actor, subjectId: row.id, changes, at });
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

  return {
    /** Lists all accounts, those of applications included. */
    list: ({ orgId }: { readonly orgId: string }, query: SearchQuery): Promise<ListPage<Account>> =>
      readListPage(query, {
        count: () => countAccounts(prisma, orgId, query.q),
        find: (window) => findAccounts(prisma, orgId, window, query.q),
        toItem: toAccount,
      }),

    /** @throws AppError 404. */
    get: async ({ orgId }: { readonly orgId: string }, id: string): Promise<Account> =>
      toAccount(await find(prisma, orgId, id)),

    create: (caller: Caller, { name, role = 'member' }: CreateAccountBody): Promise<Account> =>
      change(caller, 'service_account.created', async (tx, createdAt) => {
        const account = { id: uuidv7(), orgId: caller.orgId, name: name.trim(), role, createdAt };
        const row = await insertAccount(tx, account);
        return { row, changes: findChanges(undefined, row, auditFields) };
      }),

    /** Changes an account; its tokens follow at once. @throws AppError 404; 409 for that of an application. */
    change: (caller: Caller, id: string, { name, role }: ChangeAccountBody): Promise<Account> =>
      change(caller, 'service_account.changed', async (tx) => {
        const before = await findOwn(tx, caller.orgId, id);
        const row = await updateAccount(tx, id, {
          ...(name !== undefined && { name: name.trim() }),
          ...(role !== undefined && { role }),
        });
        return { row, changes: findChanges(before, row, auditFields) };
      }),

    /** Removes an account; its tokens end at once. @throws AppError 404; 409 for that of an application. */
    async remove(caller: Caller, id: string): Promise<void> {
      await change(caller, 'service_account.removed', async (tx, removedAt) => {
        await findOwn(tx, caller.orgId, id);
        return { row: await updateAccount(tx, id, { removedAt }) };
      });
    },
  };
}
export type ServiceAccounts = ReturnType<typeof createServiceAccounts>;
