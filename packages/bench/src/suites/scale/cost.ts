import { listDescendants } from '@platform/embedded';
import { readFile } from 'node:fs/promises';
import type { Fixture } from '../../runner/fixture.js';
import type { ValueDescription } from '../../runner/measurement.js';
import type { NodeServer } from '../../servers/process.js';
import { execute, startPostgres } from '../../servers/service.js';

/* The cost of one request, run or mail, whichever machine is busy with it. */

/** The kernel's unit of processor time, on all of Linux. */
const TICK_US = 10_000;

/** @returns the processor time of a process and of all below it so far, in µs; NaN except on Linux. */
async function readCpuUs(pid: number): Promise<number> {
  const pids = [pid, ...(await listDescendants(pid))];
  const ticks = pids.map(async (each) => {
    const stat = await readFile(`/proc/${each}/stat`, 'utf8').catch(() => '');
    // From the state on, which follows the name in parentheses: utime, stime, and those of children that have ended.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  });
  const total = (await Promise.all(ticks)).reduce((sum, each) => sum + each, 0);
  return process.platform === 'linux' ? total * TICK_US : Number.NaN;
}

const costs = {
  service_us: { unit: 'µs', note: 'processor time of the service' },
  postgres_us: { unit: 'µs', note: 'processor time of PostgreSQL' },
  statements: { note: 'statements' },
  wal_bytes: { unit: 'B', note: 'bytes that PostgreSQL writes ahead' },
} as const;
type Cost = keyof typeof costs;
type Costs<Kind extends string> = `${Kind}_${Cost}`;

const mapCosts = <Kind extends string, T>(kind: Kind, map: (cost: Cost) => T) =>
  Object.fromEntries(Object.keys(costs).map((cost) => [`${kind}_${cost}`, map(cost as Cost)])) as Record<
    Costs<Kind>,
    T
  >;

/** Describes the values of {@link measureCosts}. */
export const describeCosts = <Kind extends string>(kind: Kind, what: string) =>
  mapCosts(kind, (cost): ValueDescription => ({
    ...costs[cost],
    note: `${costs[cost].note}, for each ${what}`,
  }));

interface Read {
  readonly wal: string;
  readonly calls: string;
}

async function readUse(
  fixture: Fixture,
  databaseUrl: string,
  server: NodeServer,
): Promise<Record<Cost, number>> {
  const { pid } = await fixture.share(startPostgres);
  const result = await execute(databaseUrl, [
    `select pg_current_wal_insert_lsn() - '0/0' as wal, (select sum(calls) from pg_stat_statements
     where dbid = (select oid from pg_database where datname = current_database())) as calls`,
  ]);
  const [read] = (result?.rows ?? []) as Read[];
  return {
    service_us: await readCpuUs(server.pid),
    postgres_us: await readCpuUs(pid),
    statements: Number(read?.calls),
    wal_bytes: Number(read?.wal),
  };
}

/**
 * Measures what each of many acts costs, with what the service does meanwhile in the background.
 *
 * @param act - does them. @returns how many.
 */
export async function measureCosts<Kind extends string>(
  fixture: Fixture,
  kind: Kind,
  { databaseUrl, server }: { readonly databaseUrl: string; readonly server: NodeServer },
  act: () => Promise<number>,
): Promise<Record<Costs<Kind>, number>> {
  await execute(
    databaseUrl,
    ['create extension if not exists pg_stat_statements'],
    ['select pg_stat_statements_reset()'],
  );
  const before = await readUse(fixture, databaseUrl, server);
  const count = await act();
  const after = await readUse(fixture, databaseUrl, server);
  return mapCosts(kind, (cost) => (after[cost] - before[cost]) / count);
}

export interface StatementTimes {
  readonly calls: number;
  readonly meanMs: number;
  readonly maxMs: number;
  readonly totalMs: number;
}

/**
 * Reads how long a statement of the service took since the last {@link measureCosts} began.
 *
 * @param pattern - a part of its text, and of no other's, for `like`.
 */
export async function readStatementTimes(databaseUrl: string, pattern: string): Promise<StatementTimes> {
  const result = await execute(databaseUrl, [
    `select sum(calls)::float8 as calls, sum(total_exec_time) as "totalMs", max(max_exec_time) as "maxMs",
       sum(total_exec_time) / sum(calls) as "meanMs"
     from pg_stat_statements where query like '%' || $1 || '%' and query not like '%pg_stat_statements%'
       and dbid = (select oid from pg_database where datname = current_database())`,
    [pattern],
  ]);
  const [times] = (result?.rows ?? []) as StatementTimes[];
  if (!times?.calls) throw new Error(`no statement has run whose text has ${pattern}`);
  return times;
}
