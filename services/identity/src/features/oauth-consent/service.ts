import { canDelegateScope, type Scope, scopeCatalogue, type UserPrincipal } from '@platform/auth';
import { AppError, type Clock, DAY_MS } from '@platform/service-kit';
import type Provider from 'oidc-provider';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../../resources.js';
import { type ConnectionBreach, findConnectionBreaches, getLatestEnd } from '../connection-policy/policy.js';
import { findConnectionPolicy } from '../connection-policy/queries.js';
import { type Caller, toActor } from '../audit/actor.js';
import { insertAuditEntry } from '../audit/queries.js';
import { isLocalRedirect } from '../oauth/client-metadata.js';
import type { ProtectedResources } from '../oauth/protected-resources.js';
import { GRANT_SECONDS } from '../oauth/provider.js';
import { findTokenPolicy } from '../token-policy/queries.js';
import {
  findStoredClient,
  insertGrant,
  lockMember,
  lockSession,
  recordConnection,
  upsertDocumentClient,
} from './queries.js';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** What the consent page shows. */
export interface ConsentRequest {
  readonly clientId: string;
  /** The verified name: a host, or the name that an administrator gave. */
  readonly identity: string;
  /** What the client calls itself; anyone can choose it. */
  readonly claimedName: string | undefined;
  readonly kind: 'application' | 'document' | 'registered';
  readonly redirectUri: string;
  /** Whether that is a program on the machine of the browser. */
  readonly isLocal: boolean;
  readonly scopes: readonly { readonly name: Scope; readonly description: string }[];
  /** The services that accept the tokens of the application. */
  readonly audiences: readonly string[];
  readonly expiresAt: Date;
}

const describe: ReadonlyMap<string, string> = new Map(
  scopeCatalogue.flatMap(({ scopes }) => scopes.map(({ name, description }) => [name, description])),
);

const unknownClient = (): AppError =>
  new AppError({ status: 400, code: 'UNKNOWN_CLIENT', message: 'Unknown application' });
const notAllowed = (message: string): AppError =>
  new AppError({ status: 403, code: 'CLIENT_NOT_ALLOWED', message });
const refusals: Readonly<Record<ConnectionBreach, string>> = {
  client_kind: 'Your organisation does not allow applications of this kind',
  host: 'Your organisation does not allow applications of this host',
  member: 'In your organisation, only administrators connect applications',
  lifetime: 'Your organisation does not allow this connection',
};
const readText = (params: Record<string, unknown>, name: string): string => {
  const value = params[name];
  return typeof value === 'string' ? value : '';
};

export function createConsentService(deps: {
  readonly provider: Provider;
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly resources: ProtectedResources;
  readonly clock: Clock;
}) {
  const { provider, pool, prisma, resources, clock } = deps;

  /** @throws AppError 403 for a client that the organisation does not allow; 400 for one that is gone. */
  async function read({ params }: Interaction, member: UserPrincipal): Promise<ConsentRequest> {
    const clientId = readText(params, 'client_id');
    const client = await provider.Client.find(clientId);
    if (!client) throw unknownClient();
    const stored = await findStoredClient(pool, clientId);
    if (stored?.is_ended) throw unknownClient();
    const kind = stored?.kind === 'application' || stored?.kind === 'registered' ? stored.kind : 'document';
    if (stored?.org_id && stored.org_id !== member.orgId)
      throw notAllowed('This application belongs to another organisation');
    if (kind === 'document' && !clientId.startsWith('https:')) throw unknownClient();
    const now = clock();
    const connections = await findConnectionPolicy(prisma, member.orgId);
    const { role } = member;
    const [breach] = findConnectionBreaches(
      connections,
      { clientId, kind, role, createdAt: new Date(now) },
      now,
    );
    if (breach !== undefined) throw notAllowed(refusals[breach]);
    const policy = await findTokenPolicy(prisma, member.orgId);
    const redirectUri = readText(params, 'redirect_uri');
    const resource = resources.find(readText(params, 'resource') || resources.mcp);
    const scopes = readText(params, 'scope')
      .split(' ')
      .filter((name): name is Scope => canDelegateScope(name, member.role))
      .filter((name) => !policy.deniedScopes.includes(name))
      .filter((name) => resource?.scopes.includes(name) && (stored?.scopes?.includes(name) ?? true));
    return {
      clientId,
      kind,
      identity: kind === 'document' ? new URL(clientId).host : (stored?.name ?? clientId),
      claimedName: kind === 'document' ? client.clientName : undefined,
      redirectUri,
      isLocal: isLocalRedirect(redirectUri),
      scopes: scopes.map((name) => ({ name, description: describe.get(name) ?? name })),
      audiences: resource?.audiences ?? [],
      expiresAt: new Date(
        Math.min(
          now + GRANT_SECONDS * 1_000,
          now + (policy.maxLifetimeDays ?? Infinity) * DAY_MS,
          getLatestEnd(connections, now),
        ),
      ),
    };
  }

  return {
    read,

    /**
     * Stores what the member allows.
     *
     * @param chosen - the scopes that the member has ticked; others than those that were asked for are ignored.
     * @returns the id of the grant; undefined when nothing was ticked.
     * @throws AppError 400 when the client is gone; 401 when the member was removed or the session has ended meanwhile.
     */
    async allow(
      interaction: Interaction,
      caller: Caller,
      chosen: readonly string[],
    ): Promise<string | undefined> {
      const { clientId, kind, scopes: offered, expiresAt, redirectUri } = await read(interaction, caller);
      const scopes = offered.map(({ name }) => name).filter((name) => chosen.includes(name));
      if (scopes.length === 0) return undefined;
      const client = await provider.Client.find(clientId);
      const { orgId, userId } = caller;
      const at = new Date(clock());
      const id = uuidv7();
      const resource = readText(interaction.params, 'resource') || resources.mcp;
      await prisma.$transaction(async (tx) => {
        if (!(await lockMember(tx, userId)) || !(await lockSession(tx, caller.credentialId, at)))
          throw new AppError({
            status: 401,
            code: 'UNAUTHORIZED',
            message: 'Your session has ended: sign in again',
          });
        if (kind === 'document')
          await upsertDocumentClient(tx, {
            id: clientId,
            name: client?.clientName ?? new URL(clientId).host,
            redirectUris: client?.redirectUris ?? [redirectUri],
            at,
          });
        if (!(await recordConnection(tx, clientId, at))) throw unknownClient();
        const grant = { id, orgId, userId, clientId, resource, scopes, createdAt: at, expiresAt };
        await insertGrant(tx, { ...grant, lastAddress: caller.client.address });
        await insertAuditEntry(tx, {
          orgId,
          action: 'connected_app.authorized',
          actor: toActor(caller),
          subjectId: id,
          detail: { clientId, scopes: scopes.join(' '), redirectUri, expiresAt: expiresAt.toISOString() },
          at,
        });
      });
      return id;
    },
  };
}
export type ConsentService = ReturnType<typeof createConsentService>;
