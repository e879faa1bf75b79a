import type { UserPrincipal } from '@platform/auth';
import type { Clock, Egress, SecretBox } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma, Transaction } from '../../prisma.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { findChanges } from '../../audit/changes.js';
import { isOtherOrigin, parseTargetUrl } from '../../base/egress/target-url.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import { endServerCredentials } from '../../members/server-credentials/server-credentials.sql.js';
import { findAllowedGroups, type GroupsById, toAuditedGroups, toStoredAccess } from './access.js';
import { describeServer, toServer } from './documents.js';
import { nameTaken, secretRequired, serverNotFound, tooManyServers } from './errors.js';
import {
  bumpCatalogue,
  countServers,
  countTools,
  deleteServer,
  findServer,
  findServers,
  getRules,
  hasServerNamed,
  insertServer,
  lockServer,
  type NewServer,
  type ServerRow,
  updateServer,
} from './queries.js';
import {
  type ChangeServerBody,
  type CreateServerBody,
  DEFAULT_ANSWER_BYTES,
  type Server,
  type ServerPage,
  type ServerQuery,
} from './schemas.js';
import { withdrawTools } from './tool.queries.js';
import { serverSecretContext } from './upstream/credentials.js';

const MAX_SERVERS = 50;

/** Returns the fields of a server that the audit records: never the secret. */
const toAudited = (row: ServerRow, groups: GroupsById) => ({
  name: row.name,
  url: row.url,
  credential: row.credential,
  secretHeader: row.secretHeader,
  secretPrefix: row.secretPrefix,
  credentialHint: row.credentialHint,
  credentialLink: row.credentialLink,
  clientId: row.clientId,
  clientScope: row.clientScope,
  claims: row.claims.join(', ') || null,
  groupValues: row.groupValues,
  connectors: row.connectors.join(', ') || null,
  rules: JSON.stringify(getRules(row)),
  maxAnswerBytes: String(row.maxAnswerBytes),
  isEnabled: String(row.isEnabled),
  allowedGroups: toAuditedGroups(row, groups),
});
const audited = [
  'name',
  'url',
  'credential',
  'secretHeader',
  'secretPrefix',
  'credentialHint',
  'credentialLink',
  'clientId',
  'clientScope',
  'claims',
  'groupValues',
  'connectors',
  'rules',
  'maxAnswerBytes',
  'isEnabled',
  'allowedGroups',
] as const;

type CredentialFields = Pick<
  NewServer,
  | 'credential'
  | 'secretHeader'
  | 'secretSealed'
  | 'secretPrefix'
  | 'credentialHint'
  | 'credentialLink'
  | 'listerId'
  | 'clientId'
  | 'clientScope'
  | 'claims'
  | 'groupValues'
>;

/** @throws AppError 400. */
const parseServerUrl = (text: string, egress: Pick<Egress, 'assertUrl'>): string =>
  parseTargetUrl(text, egress, 'MCP_SERVER_ALLOWED_TARGETS');

/** @param kept - the server as it is, whose secret for lists and lister stay where the credential says nothing of them. */
function toCredentialFields(
  id: string,
  credential: CreateServerBody['credential'],
  box: SecretBox,
  kept?: ServerRow,
): CredentialFields {
  const fields = {
    credential: credential?.kind ?? 'none',
    secretHeader: null,
    secretSealed: null,
    secretPrefix: null,
    credentialHint: null,
    credentialLink: null,
    listerId: null,
    clientId: null,
    clientScope: null,
    claims: [],
    groupValues: null,
  };
  if (credential?.kind === 'assertion') {
    const claims = [...new Set(credential.claims)];
    return {
      ...fields,
      claims,
      ...(claims.includes('groups') && { groupValues: credential.groupValues ?? 'name' }),
    };
  }
  if (credential?.kind === 'secret') {
    const { value, header: secretHeader = 'authorization' } = credential;
    return { ...fields, secretHeader, secretSealed: box.seal(value, serverSecretContext(id)) };
  }
  if (credential?.kind === 'oauth') {
    const { clientId = null, clientSecret, scope = null } = credential;
    const isGiven = clientId !== null;
    const isKept = isGiven && clientSecret === undefined && kept?.clientId === clientId;
    const client = {
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
    };
    return {
      ...fields,
      clientId,
      clientScope: scope,
      listerId: kept?.listerId ?? null,
      secretSealed: isKept
        ? (kept?.secretSealed ?? null)
        : isGiven
          ? box.seal(JSON.stringify(client), serverSecretContext(id))
          : null,
    };
  }
  if (credential?.kind !== 'personal') return fields;
  const { value, header: secretHeader = 'authorization', prefix, hint, link } = credential;
  const keptSealed = kept?.secretHeader === secretHeader ? kept.secretSealed : null;
  return {
    ...fields,
    secretHeader,
    secretSealed:
      typeof value === 'string'
        ? box.seal(value, serverSecretContext(id))
        : value === null
          ? null
          : keptSealed,
    secretPrefix: prefix ?? (secretHeader === 'authorization' ? 'Bearer ' : ''),
    credentialHint: hint ?? null,
    credentialLink: link ?? null,
    listerId: kept?.listerId ?? null,
  };
}

/** Whether the credentials that accounts have given for the server are for the changed one, too. */
const keepsOwnCredentials = (before: ServerRow, after: ServerRow): boolean =>
  before.credential === after.credential &&
  before.clientId === after.clientId &&
  !isOtherOrigin(before.url, after.url);

/**
 * Returns the fields of a change. A secret is never sent to another origin than the one it was given for, so that
 * nobody who changes a URL learns it.
 *
 * @throws AppError 400.
 */
function toChangedFields(
  before: ServerRow,
  { name, url, credential, connectors, rules, maxAnswerBytes, isEnabled }: ChangeServerBody,
  { box, egress }: { readonly box: SecretBox; readonly egress: Pick<Egress, 'assertUrl'> },
) {
  const parsed = url === undefined ? undefined : parseServerUrl(url, egress);
  const isMoved = parsed !== undefined && isOtherOrigin(before.url, parsed);
  // A client that has registered itself registers again.
  const isRegistered = before.credential === 'oauth' && before.clientId === null;
  if (isMoved && before.secretSealed !== null && credential === undefined && !isRegistered)
    throw secretRequired();
  const isReachedOtherwise = (parsed ?? before.url) !== before.url || credential !== undefined;
  return {
    ...(name !== undefined && { name }),
    ...(parsed !== undefined && { url: parsed }),
    ...(credential !== undefined &&
      // oxfmt-ignore
      toCredentialFields(before.id, credential, box, isMoved || before.credential !== credential.kind ? undefined : before)),
    ...(connectors !== undefined && { connectors: [...new Set(connectors)] }),
    ...(rules !== undefined && { rules }),
    ...(maxAnswerBytes !== undefined && { maxAnswerBytes }),
    ...(isEnabled !== undefined && { isEnabled }),
    // The job asks again what had failed for its size.
    ...(isReachedOtherwise && { revision: before.revision + 1, refreshFault: null }),
    ...(isMoved && { leftOut: '[]', listerId: null }),
    ...(isMoved && isRegistered && credential === undefined && { secretSealed: null }),
  };
}

/** Returns what the audit records of a change. @param removed - the number of accounts whose credentials have ended with it. */
const toEntry = (
  before: ServerRow | undefined,
  after: ServerRow | undefined,
  groups: GroupsById,
  removed = 0,
) => ({
  subjectId: (after ?? before)?.id ?? '',
  detail: {
    ...(before && after && before.secretSealed !== after.secretSealed && { secret: 'changed' }),
    ...(removed > 0 && { disconnected: String(removed) }),
  },
  changes: findChanges(before && toAudited(before, groups), after && toAudited(after, groups), audited),
});

/** The context of the servers, of what is decided on their tools, and of the credentials of accounts there. */
export interface ServerContext {
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly egress: Egress;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

async function assertNameIsFree(tx: Transaction, orgId: string, name: string): Promise<void> {
  if (await hasServerNamed(tx, orgId, name)) throw nameTaken();
}

/** Lists the organisation's servers, newest first. */
export async function listServers(
  { prisma }: ServerContext,
  { orgId }: UserPrincipal,
  { limit, cursor }: ServerQuery,
): Promise<ServerPage> {
  // Fetch one more than requested to learn whether there is another page.
  const rows = await findServers(prisma, orgId, cursor, limit + 1);
  const page = rows.slice(0, limit);
  // oxfmt-ignore
  const counts = await countTools(prisma, page.map(({ id }) => id));
  const groups = await findAllowedGroups(prisma, orgId, page);
  const data = page.map((row) => toServer(row, counts.get(row.id), groups));
  return { data, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
}

/** @throws AppError 404. */
export async function getServer(
  { prisma }: ServerContext,
  { orgId }: UserPrincipal,
  id: string,
): Promise<Server> {
  const row = await findServer(prisma, orgId, id);
  if (!row) throw serverNotFound();
  return describeServer(prisma, row);
}

/** @throws AppError 400; 404 for a group; 409 NAME_TAKEN or TOO_MANY_SERVERS. */
export async function createServer(
  ctx: ServerContext,
  caller: Caller,
  {
    name,
    url,
    credential,
    connectors = [],
    rules = [],
    maxAnswerBytes = DEFAULT_ANSWER_BYTES,
    isEnabled = true,
    allowedGroups = null,
  }: CreateServerBody,
): Promise<Server> {
  const { orgId } = caller;
  const createdAt = new Date(ctx.clock());
  const id = uuidv7();
  const server = {
    id,
    orgId,
    name,
    url: parseServerUrl(url, ctx.egress),
    ...toCredentialFields(id, credential, ctx.box),
    connectors: [...new Set(connectors)],
    rules,
    maxAnswerBytes,
    isEnabled,
    createdAt,
    nextRefreshAt: createdAt,
  };
  return changeAsAdministrator(ctx, caller, async ({ tx, record }) => {
    await assertNameIsFree(tx, orgId, name);
    if ((await countServers(tx, orgId)) >= MAX_SERVERS) throw tooManyServers(MAX_SERVERS);
    const access = await toStoredAccess(tx, orgId, allowedGroups);
    const after = await insertServer(tx, { ...server, ...access });
    await bumpCatalogue(tx, orgId);
    const groups = await findAllowedGroups(tx, orgId, [after]);
    await record({ action: 'mcp_server.created', ...toEntry(undefined, after, groups) });
    return toServer(after, undefined, groups);
  });
}

/** @throws AppError 400, 404; 409 NAME_TAKEN. */
export async function changeServer(
  ctx: ServerContext,
  caller: Caller,
  id: string,
  body: ChangeServerBody,
): Promise<Server> {
  const { orgId } = caller;
  return changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const before = await findServer(tx, orgId, id);
    if (!before) throw serverNotFound();
    if (body.name !== undefined && body.name !== before.name) await assertNameIsFree(tx, orgId, body.name);
    const fields = {
      ...toChangedFields(before, body, { box: ctx.box, egress: ctx.egress }),
      ...(body.allowedGroups !== undefined && (await toStoredAccess(tx, orgId, body.allowedGroups))),
    };
    const after = await updateServer(tx, id, { ...fields, nextRefreshAt: at });
    // A tool that was approved on one server is called on another only once that server offers the same.
    if (isOtherOrigin(before.url, after.url)) await withdrawTools(tx, id);
    const ending = { serverId: id, credential: before.credential };
    const why = { actor: toActor(caller), at, reason: 'server_changed' } as const;
    const removed = keepsOwnCredentials(before, after) ? 0 : await endServerCredentials(tx, ending, why);
    await bumpCatalogue(tx, orgId);
    const groups = await findAllowedGroups(tx, orgId, [before, after]);
    await record({ action: 'mcp_server.changed', ...toEntry(before, after, groups, removed) });
    return describeServer(tx, after);
  });
}

/** Removes the server with its tools and what was decided on them. @throws AppError 404. */
export async function removeServer(ctx: ServerContext, caller: Caller, id: string): Promise<void> {
  const { orgId } = caller;
  await changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const before = await findServer(tx, orgId, id);
    if (!before) throw serverNotFound();
    const groups = await findAllowedGroups(tx, orgId, [before]);
    await lockServer(tx, id);
    const why = { actor: toActor(caller), at, reason: 'server_removed' } as const;
    const removed = await endServerCredentials(tx, { serverId: id }, why);
    await deleteServer(tx, id);
    await bumpCatalogue(tx, orgId);
    await record({ action: 'mcp_server.removed', ...toEntry(before, undefined, groups, removed) });
  });
}
