import type { UserPrincipal } from '@platform/auth';
import { type Clock, DAY_MS, firstIdAt, notFound } from '@platform/service-kit';
import { findAuditNames } from '../../audit/queries.js';
import { toMountedName } from '../../base/mounted-name.js';
import type { Resources } from '../../resources.js';
import type { ToolEntry } from '../endpoint/catalogue.js';
import type { ToolEndpoint } from '../endpoint/endpoint.js';
import { findAllowedGroups, type GroupsById, toAllowedGroups } from '../servers/access.js';
import { parseDefinition } from '../servers/definition.js';
import { toMountedTool } from '../servers/documents.js';
import { serverNotFound } from '../servers/errors.js';
import {
  countAgents,
  countMemberHours,
  countOrganisationHours,
  countTools,
  findNewestCalls,
  type SampledCall,
} from './counts.sql.js';
import {
  type CallCounts,
  type CallsQuery,
  COUNTED_DAYS,
  type OrganisationTool,
  type ToolList,
  type ToolListQuery,
  type ToolUsage,
} from './schemas.js';
import { findOrganisationTools, findServerToolNames, type ListedTool, type ToolPlace } from './tools.sql.js';

/*
 * What administrators see of the tools of their organisation: all of them, who may call them, how often they are called, by
 * whom, how long that takes and how often it fails; and what members see of the calls of their own agents. [MCP-78 to MCP-81]
 */

const DESCRIPTION_CHARS = 200;
/** How many calls are read for the callers, the outcomes and the durations. */
const SAMPLED_CALLS = 1_000;
const SHOWN_CALLERS = 20;
const NOT_CALLED = { calls: 0, failures: 0 };

type Counted = Pick<OrganisationTool, 'calls' | 'failures'>;
type Uncounted = Omit<OrganisationTool, keyof Counted>;

const toText = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const cut = (text: string | null): string | null => text && text.slice(0, DESCRIPTION_CHARS).toWellFormed();

function toListedTool(row: ListedTool, groups: GroupsById): Uncounted {
  const mounted = toMountedTool({ name: row.serverName, rules: row.rules }, row, groups);
  const json = row.offered ?? row.approved;
  const definition = json === null ? undefined : parseDefinition(json);
  const access = { isLimited: row.serverIsLimited, allowedGroups: row.serverGroups };
  return {
    name: mounted.mountedName,
    title: toText(definition?.title) ?? toText(definition?.annotations?.title),
    description: cut(toText(definition?.description)),
    server: {
      id: row.serverId,
      name: row.serverName,
      isEnabled: row.isEnabled,
      allowedGroups: toAllowedGroups(access, groups),
    },
    mounted,
    scopes: mounted.isInEffect && mounted.effectiveScope !== null ? [mounted.effectiveScope] : [],
    isAdminOnly: false,
    annotations: mounted.hints,
  };
}

function toPlatformTool({ tool, json }: ToolEntry): Uncounted {
  const definition = JSON.parse(json) as Record<string, unknown>;
  return {
    name: tool.name,
    title: toText(definition['title']),
    description: cut(toText(definition['description'])),
    server: null,
    mounted: null,
    scopes: [...tool.scopes],
    isAdminOnly: tool.isAdminOnly,
    annotations: { ...tool.annotations },
  };
}

/** A cursor is `<server>/<tool>`: the name of a server has no slash. */
function toPlace(cursor: string | undefined): ToolPlace | undefined {
  if (cursor === undefined) return undefined;
  const [server = '', ...tool] = cursor.split('/');
  return { server, tool: tool.join('/') };
}

/** Returns the value below which a share of the sorted values lies. */
const toPercentile = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;

function countBy(calls: readonly SampledCall[], key: 'user_id' | 'outcome'): [string, SampledCall[]][] {
  const groups = new Map<string, SampledCall[]>();
  for (const call of calls) {
    const group = groups.get(call[key]);
    if (group) group.push(call);
    else groups.set(call[key], [call]);
  }
  return [...groups].toSorted(([, a], [, b]) => b.length - a.length);
}

export interface ToolOverviewContext {
  readonly pool: Resources['pool'];
  readonly prisma: Resources['prisma'];
  readonly endpoint: Pick<ToolEndpoint, 'getTools'>;
  readonly clock: Clock;
}

const getStart = ({ clock }: ToolOverviewContext): Date => new Date(clock() - COUNTED_DAYS * DAY_MS);

async function listPlatformTools(
  { endpoint }: ToolOverviewContext,
  caller: UserPrincipal,
  q = '',
): Promise<Uncounted[]> {
  const entries = (await endpoint.getTools(caller)).list();
  return entries
    .filter(({ knowledge, tool }) => !knowledge && tool.name.includes(q.toLowerCase()))
    .map(toPlatformTool);
}

async function toUsage(
  ctx: ToolOverviewContext,
  orgId: string,
  tools: readonly string[],
): Promise<ToolUsage> {
  const from = getStart(ctx);
  const counted = [...(await countTools(ctx.pool, { orgId, tools }, from))];
  const calls = counted.reduce((sum, [, one]) => sum + one.calls, 0);
  const failures = counted.reduce((sum, [, one]) => sum + one.failures, 0);
  // Each tool has the share of the sample that it has of the calls.
  const sampled = counted.map(([tool, one]) => ({
    tool,
    limit: Math.ceil((SAMPLED_CALLS * one.calls) / calls),
  }));
  const newest = await findNewestCalls(ctx.pool, orgId, sampled, firstIdAt(from.getTime()));
  const durations = newest.map((call) => call.duration_ms).toSorted((a, b) => a - b);
  const callers = countBy(newest, 'user_id').slice(0, SHOWN_CALLERS);
  // oxfmt-ignore
  const names = await findAuditNames(ctx.prisma, orgId, callers.map(([id]) => id));
  const times = newest.map((call) => call.created_at.getTime());
  return {
    since: from.toISOString(),
    calls,
    failures,
    recent: {
      calls: newest.length,
      since: times.length === 0 ? null : new Date(Math.min(...times)).toISOString(),
      p50Ms: toPercentile(durations, 0.5),
      p95Ms: toPercentile(durations, 0.95),
      outcomes: countBy(newest, 'outcome').map(([outcome, of]) => ({ outcome, calls: of.length })),
      callers: callers.map(([id, of]) => ({
        id,
        kind: names[id]?.kind ?? null,
        name: names[id]?.name ?? null,
        calls: of.length,
        lastAt: new Date(Math.max(...of.map((call) => call.created_at.getTime()))).toISOString(),
      })),
    },
  };
}

/** Lists the tools of the organisation's servers by name, and after them those of the platform. */
export async function listTools(
  ctx: ToolOverviewContext,
  caller: UserPrincipal,
  { limit, cursor, q, isWaiting }: ToolListQuery,
): Promise<ToolList> {
  const { orgId } = caller;
  // Fetch one more than requested to learn whether there is another page.
  const rows = await findOrganisationTools(ctx.pool, orgId, {
    q,
    isWaiting: isWaiting !== undefined,
    after: toPlace(cursor),
    limit: limit + 1,
  });
  const shown = rows.slice(0, limit);
  const limited = shown.map((row) => ({ isLimited: true, allowedGroups: row.serverGroups }));
  const groups = await findAllowedGroups(ctx.prisma, orgId, [...shown, ...limited]);
  const hasMore = rows.length > limit;
  const data = [
    ...shown.map((row) => toListedTool(row, groups)),
    ...(hasMore || isWaiting !== undefined ? [] : await listPlatformTools(ctx, caller, q)),
  ];
  // oxfmt-ignore
  const counts = await countTools(ctx.pool, { orgId, tools: data.map(({ name }) => name) }, getStart(ctx));
  const last = shown.at(-1);
  return {
    data: data.map((tool) => ({ ...tool, ...(counts.get(tool.name) ?? NOT_CALLED) })),
    nextCursor: hasMore && last ? `${last.serverName}/${last.name}` : null,
  };
}

/**
 * Returns who calls a tool, how often, and how that ends. A tool that is no longer in effect has its calls.
 *
 * @throws AppError 404 for one that is not, and was not called.
 */
export async function getToolUsage(
  ctx: ToolOverviewContext,
  caller: UserPrincipal,
  tool: string,
): Promise<ToolUsage> {
  const usage = await toUsage(ctx, caller.orgId, [tool]);
  if (usage.calls === 0 && !(await ctx.endpoint.getTools(caller)).get(tool)) throw notFound('Tool not found');
  return usage;
}

/** Returns who calls the tools of a server, how often, and how that ends. @throws AppError 404. */
export async function getServerUsage(
  ctx: ToolOverviewContext,
  { orgId }: UserPrincipal,
  serverId: string,
): Promise<ToolUsage> {
  const rows = await findServerToolNames(ctx.pool, orgId, serverId);
  if (rows.length === 0) throw serverNotFound();
  return toUsage(
    ctx,
    orgId,
    rows.flatMap(({ server, tool }) => (tool === null ? [] : toMountedName(server, tool))),
  );
}

/** Counts the calls of the caller's agents; for administrators those of the organisation. */
export async function countCalls(
  ctx: ToolOverviewContext,
  { orgId, userId, role }: UserPrincipal,
  query: CallsQuery,
): Promise<CallCounts> {
  const now = new Date(ctx.clock());
  const atLeast = (text: string): Date => new Date(Math.max(Date.parse(text), getStart(ctx).getTime()));
  const [from, today] = [atLeast(query.from), atLeast(query.today)];
  const isAdmin = role === 'admin';
  const [hours, agents] = await Promise.all([
    isAdmin
      ? countOrganisationHours(ctx.pool, orgId, from)
      : countMemberHours(ctx.pool, { orgId, userId }, { from, now }),
    countAgents(ctx.pool, { orgId, userId: isAdmin ? undefined : userId }, { from: today, now }),
  ]);
  return { agents, hours: hours.map(({ hour, ...counts }) => ({ hour: hour.toISOString(), ...counts })) };
}
