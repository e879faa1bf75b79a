import type pg from 'pg';

/*
 * What is counted is read from the hours, never from the calls: 168 rows a tool for seven days. Of the calls themselves only the
 * newest are read, by the index of their tool. Measured with 600,000 calls of one organisation in seven days, by 1,000 agents
 * and of 100 tools: 1 ms for the hours, 2 ms for 50 tools, 3 ms for the newest 1,000 calls; and, with 200,000 calls, 9 ms for the
 * agents of a day, of which 20,000 calls are read at most.
 * Counting doubles the time of the statement that stores calls, to 32 ms for 1,000 calls; it is off the path of requests.
 */

interface Counts {
  readonly calls: number;
  readonly failures: number;
}

export interface HourRow extends Counts {
  readonly hour: Date;
}

/** The name under which the hours have all tools of an organisation. */
const ALL_TOOLS = '';

const organisationHours = `
  select hour, calls, failures from tool_call_hours where org_id = $1 and tool = $2 and hour >= $3 order by hour`;

/** Counts the calls of an organisation by hour. It reads one row an hour. */
export async function countOrganisationHours(db: pg.Pool, orgId: string, from: Date): Promise<HourRow[]> {
  const values = [orgId, ALL_TOOLS, from];
  return (await db.query<HourRow>({ name: 'organisation_call_hours', text: organisationHours, values })).rows;
}

/* The hours are named one by one, so that the index leads to the rows of the member in each. */
const memberHours = `
  select hour, sum(calls)::int as calls, sum(failures)::int as failures from tool_call_agents
  where org_id = $1 and user_id = $2
    and hour = any(array(select generate_series(date_trunc('hour', $3::timestamptz, 'UTC'), $4::timestamptz, interval '1 hour')))
  group by hour order by hour`;

/** Counts the calls of a member's agents by hour. */
export async function countMemberHours(
  db: pg.Pool,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  { from, now }: { readonly from: Date; readonly now: Date },
): Promise<HourRow[]> {
  const values = [orgId, userId, from, now];
  return (await db.query<HourRow>({ name: 'member_call_hours', text: memberHours, values })).rows;
}

/** More rows than this are not read, and the counts are minimums: one for each agent and hour of a day. */
const MAX_AGENT_ROWS = 20_000;

const agents = `
  select count(*)::int as agents, coalesce(sum(calls), 0)::int as calls, coalesce(sum(failures), 0)::int as failures,
    coalesce(sum(hours), 0) = $5 as "isMinimum"
  from (
    select sum(calls) as calls, sum(failures) as failures, count(*) as hours
    from (
      select user_id, agent, calls, failures from tool_call_agents
      where org_id = $1 and ($2::uuid is null or user_id = $2)
        and hour = any(array(select generate_series(date_trunc('hour', $3::timestamptz, 'UTC'), $4::timestamptz, interval '1 hour')))
      limit $5
    ) called
    group by user_id, agent
  ) agents`;

/** Counts the agents that have called since a time, with their calls. @param userId - undefined: of everybody. */
export async function countAgents(
  db: pg.Pool,
  { orgId, userId }: { readonly orgId: string; readonly userId: string | undefined },
  { from, now }: { readonly from: Date; readonly now: Date },
): Promise<Counts & { readonly agents: number; readonly isMinimum: boolean }> {
  const values = [orgId, userId ?? null, from, now, MAX_AGENT_ROWS];
  const { rows } = await db.query<Counts & { agents: number; isMinimum: boolean }>({
    name: 'call_agents',
    text: agents,
    values,
  });
  return rows[0] ?? { agents: 0, calls: 0, failures: 0, isMinimum: false };
}

const toolCounts = `
  select tool, sum(calls)::int as calls, sum(failures)::int as failures
  from tool_call_hours where org_id = $1 and tool = any($2) and hour >= $3 group by tool`;

/** Counts the calls of tools. */
export async function countTools(
  db: pg.Pool,
  { orgId, tools }: { readonly orgId: string; readonly tools: readonly string[] },
  from: Date,
): Promise<ReadonlyMap<string, Counts>> {
  const { rows } = await db.query<Counts & { tool: string }>({
    name: 'tool_call_counts',
    text: toolCounts,
    values: [orgId, tools, from],
  });
  return new Map(rows.map(({ tool, ...counts }) => [tool, counts]));
}

/** A tool, and how many of its newest calls are read. */
export interface Sampled {
  readonly tool: string;
  readonly limit: number;
}

export interface SampledCall {
  readonly user_id: string;
  readonly outcome: string;
  readonly duration_ms: number;
  readonly created_at: Date;
}

const newestCalls = `
  select calls.* from unnest($2::text[], $3::int[]) as wanted (tool, most)
    cross join lateral (
      select user_id, outcome, duration_ms, created_at from tool_calls
      where org_id = $1 and tool = wanted.tool and id >= $4 order by id desc limit wanted.most
    ) calls`;

/** Finds the newest calls of tools. @param fromId - the id of the earliest. */
export async function findNewestCalls(
  db: pg.Pool,
  orgId: string,
  sampled: readonly Sampled[],
  fromId: string,
): Promise<SampledCall[]> {
  const { rows } = await db.query<SampledCall>({
    name: 'newest_calls',
    text: newestCalls,
    values: [orgId, sampled.map(({ tool }) => tool), sampled.map(({ limit }) => limit), fromId],
  });
  return rows;
}
