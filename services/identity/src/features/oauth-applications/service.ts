import { randomBytes } from 'node:crypto';
import { type Clock, type Page, type PageQuery, pageWindow, toPagination } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma, Transaction } from '../../resources.js';
import { type Caller, toActor } from '../audit/actor.js';
import { findChanges } from '../audit/changes.js';
import { insertAuditEntry } from '../audit/queries.js';
import { toSecretHash } from '../oauth/client-metadata.js';
import { lockAdministration } from '../users/administration.js';
import { applicationNotFound, noSecrets, secretNotFound, tooManySecrets } from './errors.js';
import {
  type ApplicationRow,
  countApplications,
  findApplication,
  findApplications,
  insertApplication,
  insertSecret,
  removeApplication,
  revokeAccessTokens,
  revokeSecret,
  updateApplication,
  updateServiceAccount,
} from './queries.js';
import { type ApplicationShape, assertApplication } from './rules.js';
import type { Application, ChangeApplicationBody, CreateApplicationBody } from './schemas.js';

/** Two, so that an application can change from one to the next without an interruption. */
const MAX_SECRETS = 2;

export interface CreatedSecret {
  readonly secret: Application['secrets'][number];
  /** The value, which only this once is not hashed. */
  readonly clientSecret: string;
}

const generateSecret = (): string => randomBytes(32).toString('base64url');

const toInstant = (date: Date | null): string | null => date?.toISOString() ?? null;

const toSecret = (row: ApplicationRow['secrets'][number]): Application['secrets'][number] => ({
  id: row.id,
  createdAt: row.createdAt.toISOString(),
  lastUsedAt: toInstant(row.lastUsedAt),
});

const toApplication = ({ serviceAccount: account, ...row }: ApplicationRow): Application => ({
  clientId: row.id,
  name: row.name,
  grantTypes: row.grantTypes,
  scopes: row.scopes,
  redirectUris: row.redirectUris,
  authMethod: row.authMethod,
  jwks: row.jwks as Application['jwks'],
  secrets: row.secrets.map(toSecret),
  serviceAccount: account && {
    ...account,
    createdAt: account.createdAt.toISOString(),
    lastUsedAt: toInstant(account.lastUsedAt),
  },
  createdAt: row.createdAt.toISOString(),
  lastUsedAt: toInstant(row.lastUsedAt),
  isDisabled: row.disabledAt !== null,
});

const toShape = (row: ApplicationRow): ApplicationShape => ({
  ...row,
  jwks: row.jwks as ApplicationShape['jwks'],
  role: row.serviceAccount?.role ?? 'member',
});

/** The fields whose changes the audit keeps, as text. */
const toAudited = (row: ApplicationRow) => ({
  name: row.name,
  scopes: row.scopes.join(' '),
  redirectUris: row.redirectUris.join(' '),
  jwks: row.jwks === null ? null : JSON.stringify(row.jwks),
  role: row.serviceAccount?.role ?? null,
  isDisabled: String(row.disabledAt !== null),
});
const auditedFields = ['name', 'scopes', 'redirectUris', 'jwks', 'role', 'isDisabled'] as const;

/** Creates the service with which administrators manage the OAuth 2.0 applications of their organisation. */
export function createApplicationService({
  prisma,
  clock,
}: {
  readonly prisma: Prisma;
  readonly clock: Clock;
}) {
  /** Runs a change of an administrator, and records it. @throws AppError 403 when the caller is none any more. */
  const change = <T>(caller: Caller, run: (tx: Transaction, at: Date) => Promise<T>): Promise<T> =>
    prisma.$transaction(async (tx) => {
      await lockAdministration(tx, caller);
      return run(tx, new Date(clock()));
    });

  async function requireApplication(tx: Prisma | Transaction, orgId: string, clientId: string) {
    const found = await findApplication(tx, orgId, clientId);
    if (!found) throw applicationNotFound();
    return found;
  }

  async function addSecret(tx: Transaction, clientId: string, createdAt: Date): Promise<CreatedSecret> {
    const clientSecret = generateSecret();
    const id = uuidv7();
    await insertSecret(tx, { id, clientId, secretHash: toSecretHash(clientSecret), createdAt });
    return { secret: { id, createdAt: createdAt.toISOString(), lastUsedAt: null }, clientSecret };
  }

  return {
    async list({ orgId }: { readonly orgId: string }, query: PageQuery): Promise<Page<Application>> {
      const total = await countApplications(prisma, orgId);
      const window = pageWindow(query, total);
      const skip = (query.page - 1) * query.limit;
      const rows = window ? await findApplications(prisma, orgId, { skip, take: query.limit }) : [];
      return { data: rows.map(toApplication), pagination: toPagination(query, total) };
    },

    /** @throws AppError 404. */
    get: async ({ orgId }: { readonly orgId: string }, clientId: string): Promise<Application> =>
      toApplication(await requireApplication(prisma, orgId, clientId)),

    /**
     * Registers an application. With client_credentials it gets a service account, and with a secret its first one.
     *
     * @throws AppError 400.
     */
    async create(
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
      };
      assertApplication(shape);
      return change(caller, async (tx, at) => {
        const { role, ...rest } = shape;
        const id = uuidv7();
        const { orgId } = caller;
        const serviceAccount = shape.grantTypes.includes('client_credentials')
          ? { id: uuidv7(), role }
          : null;
        await insertApplication(tx, {
          ...rest,
          id,
          orgId,
          name: body.name.trim(),
          serviceAccount,
          createdAt: at,
        });
        const secret = shape.authMethod === 'client_secret_basic' ? await addSecret(tx, id, at) : null;
        const row = await requireApplication(tx, orgId, id);
        await insertAuditEntry(tx, {
          orgId,
          action: 'application.created',
          actor: toActor(caller),
          subjectId: id,
          changes: findChanges(undefined, toAudited(row), auditedFields),
          at,
        });
        return { application: toApplication(row), clientSecret: secret?.clientSecret ?? null };
      });
    },

    /** Changes an application; its tokens follow at once, and those of a disabled one end. @throws AppError 400; 404. */
    change: (caller: Caller, clientId: string, body: ChangeApplicationBody): Promise<Application> =>
      change(caller, async (tx, at) => {
        const { orgId } = caller;
        const before = await requireApplication(tx, orgId, clientId);
        const { role, isDisabled, ...rest } = body;
        const accountRole = role ?? before.serviceAccount?.role ?? 'member';
        assertApplication({ ...toShape(before), ...rest, role: accountRole });
        const disabledAt = isDisabled ? (before.disabledAt ?? at) : null;
        // The client comes before its account, in the order in which last uses lock them.
        await updateApplication(tx, clientId, {
          ...rest,
          ...(body.name === undefined ? {} : { name: body.name.trim() }),
          ...(isDisabled === undefined ? {} : { disabledAt }),
        });
        if (before.serviceAccount)
          await updateServiceAccount(tx, before.serviceAccount.id, {
            role: accountRole,
            ...(body.name === undefined ? {} : { name: body.name.trim() }),
          });
        if (isDisabled) await revokeAccessTokens(tx, clientId, at);
        const after = await requireApplication(tx, orgId, clientId);
        await insertAuditEntry(tx, {
          orgId,
          action: 'application.changed',
          actor: toActor(caller),
          subjectId: clientId,
          changes: findChanges(toAudited(before), toAudited(after), auditedFields),
          at,
        });
        return toApplication(after);
      }),

    /** Removes an application with its service account; its tokens and connections end at once. @throws AppError 404. */
    remove: (caller: Caller, clientId: string): Promise<void> =>
      change(caller, async (tx, at) => {
        const { orgId } = caller;
        const { serviceAccount } = await requireApplication(tx, orgId, clientId);
        await removeApplication(tx, clientId, at);
        if (serviceAccount) await updateServiceAccount(tx, serviceAccount.id, { removedAt: at });
        await insertAuditEntry(tx, {
          orgId,
          action: 'application.removed',
          actor: toActor(caller),
          subjectId: clientId,
          at,
        });
      }),

    /** Adds a second secret beside the first. @throws AppError 404; 409 when there are two, or none can be used. */
    createSecret: (caller: Caller, clientId: string): Promise<CreatedSecret> =>
      change(caller, async (tx, at) => {
        const { orgId } = caller;
        const { secrets, authMethod } = await requireApplication(tx, orgId, clientId);
        if (authMethod !== 'client_secret_basic') throw noSecrets();
        if (secrets.length >= MAX_SECRETS) throw tooManySecrets();
        const created = await addSecret(tx, clientId, at);
        await insertAuditEntry(tx, {
          orgId,
          action: 'application.secret_created',
          actor: toActor(caller),
          subjectId: clientId,
          detail: { secretId: created.secret.id },
          at,
        });
        return created;
      }),

    /** Revokes a secret: nobody authenticates with it from then on. Its tokens live for ten minutes at most; disabling
     * the application ends them. @throws AppError 404. */
    revokeSecret: (caller: Caller, clientId: string, secretId: string): Promise<void> =>
      change(caller, async (tx, at) => {
        const { orgId } = caller;
        await requireApplication(tx, orgId, clientId);
        if (!(await revokeSecret(tx, clientId, secretId, at))) throw secretNotFound();
        await insertAuditEntry(tx, {
          orgId,
          action: 'application.secret_revoked',
          actor: toActor(caller),
          subjectId: clientId,
          detail: { secretId },
          at,
        });
      }),
  };
}
export type ApplicationService = ReturnType<typeof createApplicationService>;
