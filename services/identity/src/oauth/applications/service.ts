import { type ListPage, readListPage, type SearchQuery } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../base/caller/actor.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import {
  type ApplicationDeps,
  findApplicationChanges,
  requireApplication,
  toApplication,
  toShape,
} from './application.js';
import {
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

/** Creates the service with which administrators manage the OAuth 2.0 applications of their organisation. */
export function createApplicationService(deps: ApplicationDeps) {
  const { prisma } = deps;
  return {
    list: ({ orgId }: { readonly orgId: string }, query: SearchQuery): Promise<ListPage<Application>> =>
      readListPage(query, {
        count: () => countApplications(prisma, orgId, query.q),
        find: (window) => findApplications(prisma, orgId, window, query.q),
        toItem: toApplication,
      }),

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
      return changeAsAdministrator(deps, caller, async ({ tx, at, record }) => {
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
        const changes = findApplicationChanges(undefined, row);
        await record({ action: 'application.created', subjectId: id, changes });
        return { application: toApplication(row), clientSecret: secret?.clientSecret ?? null };
      });
    },

    /** Changes an application; its tokens follow at once, and those of a disabled one end. @throws AppError 400; 404. */
    change: (caller: Caller, clientId: string, body: ChangeApplicationBody): Promise<Application> =>
      changeAsAdministrator(deps, caller, async ({ tx, at, record }) => {
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
        const changes = findApplicationChanges(before, after);
        await record({ action: 'application.changed', subjectId: clientId, changes });
        return toApplication(after);
      }),

    /** Removes an application with its service account; its tokens and connections end at once. @throws AppError 404. */
    remove: (caller: Caller, clientId: string): Promise<void> =>
      changeAsAdministrator(deps, caller, async ({ tx, at, record }) => {
        const { serviceAccount } = await requireApplication(tx, caller.orgId, clientId);
        await removeApplication(tx, clientId, at);
        if (serviceAccount) await updateServiceAccount(tx, serviceAccount.id, { removedAt: at });
        await record({ action: 'application.removed', subjectId: clientId });
      }),
  };
}
export type ApplicationService = ReturnType<typeof createApplicationService>;
