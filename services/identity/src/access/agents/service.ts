import type { UserPrincipal } from '@platform/auth';
import { notFound } from '@platform/service-kit';
import { createDescribeBounds } from '../../credentials/bounds/bounds.js';
import { type CallsOf, findFirstCall, findRefusals } from '../../mcp/activity/activity.sql.js';
import type { ActivityQuery, ActivityResponse } from '../../mcp/activity/schemas.js';
import { readActivity } from '../../mcp/activity/service.js';
import { toState } from '../../tokens/token.js';
import { listTools } from '../decide.js';
import type { AccessContext } from '../service.js';
import { findSubjects } from '../subjects.js';
import { type AgentRow, findAgent, findRelatedTokens, type RelatedTokenRow } from './agents.sql.js';
import type { Agent, AgentKind, AgentPath } from './schemas.js';

const toCallsOf = (kind: AgentKind, row: AgentRow): CallsOf => {
  if (kind === 'token') return { credentialId: row.id };
  if (kind === 'service_account') return { userId: row.id };
  return { userId: row.owner_id, clientId: row.client_id ?? '', since: row.created_at };
};

function toAgentState(row: AgentRow, isActive: boolean, now: number): string {
  if (row.status !== null) {
    const state = toState({ ...row, status: row.status }, now);
    if (state !== 'active') return state;
  } else if (row.revoked_at !== null) return 'revoked';
  else if (row.expires_at !== null && row.expires_at.getTime() <= now) return 'expired';
  return isActive ? 'active' : 'inactive';
}

const toIso = (at: Date | null | undefined): string | null => at?.toISOString() ?? null;

const toRelated = (row: RelatedTokenRow, now: number) => ({
  id: row.id,
  name: row.name,
  state: toState(row, now),
});

const toClient = ({ client_id: id, client_kind: kind }: AgentRow): Agent['client'] =>
  id === null || kind === null ? null : { id, kind, host: kind === 'document' ? new URL(id).host : null };

/** Members find what acts for themselves, administrators what acts for anybody. @throws AppError 404. */
async function requireAgent(
  { pool }: AccessContext,
  { orgId, userId, role }: UserPrincipal,
  path: AgentPath,
): Promise<AgentRow> {
  const row = await findAgent(pool, path, orgId, role === 'admin' ? null : userId);
  if (!row) throw notFound('Agent not found');
  return row;
}

/** @throws AppError 404. */
export async function getAgent(ctx: AccessContext, caller: UserPrincipal, path: AgentPath): Promise<Agent> {
  const { orgId, userId } = caller;
  const { kind, id } = path;
  const now = ctx.clock();
  const row = await requireAgent(ctx, caller, path);
  const of = toCallsOf(kind, row);
  const [[subject], catalogue, describeBounds, related, refusals, firstCallAt] = await Promise.all([
    findSubjects(ctx.pool, orgId, kind, { ids: [id] }, new Date(now)),
    ctx.endpoint.getTools(caller),
    createDescribeBounds(ctx.pool, orgId, [row]),
    kind === 'token' ? findRelatedTokens(ctx.pool, orgId, row) : { named: [], created: [] },
    findRefusals(ctx.pool, of),
    findFirstCall(ctx.pool, of),
  ]);
  const named = new Map(related.named.map((one) => [one.id, toRelated(one, now)]));
  return {
    kind,
    id: row.id,
    name: row.name,
    state: toAgentState(row, subject?.isActive ?? false, now),
    isOwn: row.owner_id === userId,
    actsFor: {
      id: row.owner_id,
      isServiceAccount: row.is_service_account,
      name: row.owner_name,
      email: row.email,
      role: row.role,
      isRemoved: row.is_owner_removed,
    },
    client: toClient(row),
    scopes: row.scopes,
    bounds: describeBounds(row.bounds),
    allowList: row.allow_list,
    tools: subject
      ? listTools({ catalogue, resources: ctx.resources }, subject).map(({ tool }) => tool.name)
      : [],
    createdAt: row.created_at.toISOString(),
    expiresAt: toIso(row.expires_at),
    firstCallAt: toIso(firstCallAt),
    lastUsedAt: toIso(row.last_used_at),
    lastAddress: row.address,
    lastClient: row.user_agent,
    parent: named.get(row.parent_id ?? '') ?? null,
    replacedBy: named.get(row.successor_id ?? '') ?? null,
    created: related.created.map((one) => toRelated(one, now)),
    refusals: refusals.map(({ last_at: lastAt, lacks, ...refusal }) => ({
      ...refusal,
      lacks: [...lacks],
      lastAt: lastAt.toISOString(),
    })),
  };
}

/** Lists what an agent called, and what was refused to it, newest first. @throws AppError 404. */
export async function listAgentCalls(
  ctx: AccessContext,
  caller: UserPrincipal,
  path: AgentPath,
  query: ActivityQuery,
): Promise<ActivityResponse> {
  return readActivity(ctx.pool, toCallsOf(path.kind, await requireAgent(ctx, caller, path)), query);
}

/** Lists what all agents of the caller called, newest first. */
export function listOwnAgentCalls(
  { pool }: AccessContext,
  { userId }: UserPrincipal,
  query: ActivityQuery,
): Promise<ActivityResponse> {
  return readActivity(pool, { userId }, query);
}
