import {
  canDelegateScope,
  canUseScope,
  type Scope,
  scopeCatalogue,
  type UserPrincipal,
} from '@platform/auth';
import { AppError, type Clock, DAY_MS } from '@platform/service-kit';
import type Provider from 'oidc-provider';
import type pg from 'pg';
import { listBoundChoices, type NamedBounds, toChooser } from '../../credentials/bounds/bounds.js';
import { findFault } from '../provider/faults.js';
import type { Prisma } from '../../prisma.js';
import { type ConnectionBreach, findConnectionBreaches, getLatestEnd } from '../connection-policy/policy.js';
import { findConnectionPolicy } from '../connection-policy/queries.js';
import { isLocalRedirect } from '../provider/client-metadata.js';
import { GRANT_SECONDS } from '../provider/lifetimes.js';
import { MCP_AUDIENCE, type ProtectedResources } from '../provider/protected-resources.js';
import { findTokenPolicy } from '../../tokens/policy/queries.js';
import { findOrganisationName } from '../../members/organisation/organisation.sql.js';
import { findStoredClient } from '../provider/clients.sql.js';

export type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** An authorization request, as the consent page shows it. */
export interface ConsentRequest {
  readonly clientId: string;
  /** The verified name: a host, or the name that an administrator gave. */
  readonly identity: string;
  /** The name that the client has chosen for itself, which nobody has verified. */
  readonly claimedName: string | undefined;
  readonly kind: 'application' | 'document' | 'registered';
  /** The name of the member's organisation. */
  readonly organisation: string;
  readonly redirectUri: string;
  /** True when the redirect URI belongs to a program on the machine of the browser. */
  readonly isLocal: boolean;
  readonly scopes: readonly { readonly name: Scope; readonly description: string }[];
  /** What the member can limit the connection to, as far as its scopes and its place concern it. */
  readonly choices: NamedBounds;
  /** The services that accept the tokens of the application. */
  readonly audiences: readonly string[];
  readonly expiresAt: Date;
}

const describe: ReadonlyMap<string, string> = new Map(
  scopeCatalogue.flatMap(({ scopes }) => scopes.map(({ name, description }) => [name, description])),
);

export const unknownClient = (): AppError =>
  new AppError({ status: 400, code: 'UNKNOWN_CLIENT', message: 'Unknown application' });
const notAllowed = (message: string): AppError =>
  new AppError({ status: 403, code: 'CLIENT_NOT_ALLOWED', message });
const refusals: Readonly<Record<ConnectionBreach, string>> = {
  client_kind: 'Your organisation does not allow applications of this kind',
  host: 'Your organisation does not allow applications of this host',
  member: 'In your organisation, only administrators connect applications',
  lifetime: 'Your organisation does not allow this connection',
};
export const readText = (params: Record<string, unknown>, name: string): string => {
  const value = params[name];
  return typeof value === 'string' ? value : '';
};

export interface ConsentContext {
  readonly provider: Provider;
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly resources: ProtectedResources;
  /** The hosts of documents that the operator allows. */
  readonly clientHosts: readonly string[];
  readonly clock: Clock;
}

/** Finds a client. @throws AppError 400 when it is gone; 503 while the host of its document fails. */
export async function findClient(provider: Provider, id: string) {
  const client = await provider.Client.find(id).catch((error: unknown) => {
    throw findFault(error) ?? error;
  });
  if (!client) throw unknownClient();
  return client;
}

/**
 * Reads what a client asks of a member, within what the organisation allows.
 *
 * @throws AppError 403 for a client that the organisation does not allow; 400 for a deleted client.
 */
export async function readConsentRequest(
  { provider, pool, prisma, resources, clientHosts, clock }: ConsentContext,
  { params }: Interaction,
  member: UserPrincipal,
): Promise<ConsentRequest> {
  const clientId = readText(params, 'client_id');
  const client = await findClient(provider, clientId);
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
    { now, clientHosts },
  );
  if (breach !== undefined) throw notAllowed(refusals[breach]);
  const policy = await findTokenPolicy(prisma, member.orgId);
  const redirectUri = readText(params, 'redirect_uri');
  const resource = resources.find(readText(params, 'resource') || resources.mcp);
  const scopes = readText(params, 'scope')
    .split(' ')
    .filter((name): name is Scope => canDelegateScope(name, member.role) && canUseScope(name, member.role))
    .filter((name) => !policy.deniedScopes.includes(name))
    .filter((name) => resource?.scopes.includes(name) && (stored?.scopes?.includes(name) ?? true));
  const audiences = resource?.audiences ?? [];
  const { connectors, ...inTools } = await listBoundChoices(pool, toChooser(member));
  return {
    clientId,
    kind,
    choices: {
      ...(audiences.includes(MCP_AUDIENCE) && inTools),
      ...(scopes.some((name) => name.startsWith('crawl:')) && { connectors }),
    },
    organisation: (await findOrganisationName(pool, member.orgId)) ?? '',
    identity: kind === 'document' ? new URL(clientId).host : (stored?.name ?? clientId),
    claimedName: kind === 'document' ? client.clientName : undefined,
    redirectUri,
    isLocal: isLocalRedirect(redirectUri),
    scopes: scopes.map((name) => ({ name, description: describe.get(name) ?? name })),
    audiences,
    expiresAt: new Date(
      Math.min(
        now + GRANT_SECONDS * 1_000,
        now + (policy.maxLifetimeDays ?? Infinity) * DAY_MS,
        getLatestEnd(connections, now),
      ),
    ),
  };
}
