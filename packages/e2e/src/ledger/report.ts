import type { CallRecord } from './calls.js';
import type { Recovery } from './faults.js';
import type { Reckoning } from './reckon.js';
import { REVOKED_USE } from './workload.js';

const EXAMPLES = 10;

/** Returns whether every job was done, and nothing was lost, doubled, or admitted after a revocation. */
export const isSound = ({ byJob, admitted }: Reckoning): boolean =>
  admitted.length === 0 &&
  Object.values(byJob).every(
    ({ accepted, lost, doubled }) => accepted > 0 && lost.length === 0 && doubled.length === 0,
  );

/** Renders the ledger for a terminal. */
export function renderReport(
  reckoning: Reckoning,
  records: readonly CallRecord[],
  recoveries: readonly Recovery[],
  deaths: readonly string[],
): string {
  const { byJob, admitted } = reckoning;
  const sum = (key: 'lost' | 'doubled'): number =>
    Object.values(byJob).reduce((total, verdict) => total + verdict[key].length, 0);
  const jobs = Object.entries(byJob).map(([job, { accepted, lost, doubled, givenUp }]) => [
    job,
    accepted,
    lost.length,
    doubled.length,
    givenUp.length,
  ]);
  const faults = recoveries.map(({ fault, awayMs, failed, recoveredMs }) => [
    fault,
    toSeconds(awayMs),
    failed,
    failed === 0 ? '-' : recoveredMs === undefined ? 'never' : toSeconds(recoveredMs),
  ]);
  const lines = Object.entries(byJob).flatMap(([job, verdict]) =>
    (['lost', 'doubled', 'givenUp'] as const).flatMap((key) =>
      verdict[key]
        .slice(0, EXAMPLES)
        .map((text) => `${key === 'givenUp' ? 'given up' : key} (${job}): ${text}`),
    ),
  );
  return [
    renderTable(['job', 'accepted', 'lost', 'doubled', 'given up'], jobs),
    renderTable(['fault', 'down for', 'failed requests', 'recovered after'], faults),
    renderTable(['refused', 'requests'], countRefusals(records)),
    ...(deaths.length === 0 ? [] : [`Processes that ended by themselves: ${deaths.join(', ')}`, '']),
    ...lines,
    ...admitted.map((text) => `admitted: ${text}`),
    `${records.length} requests, ${sum('lost')} lost, ${sum('doubled')} doubled, ${admitted.length} tokens admitted after their revocation`,
  ].join('\n');
}

const toSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Counts refusals by kind, status and code, without those of revoked tokens, which are wanted. */
function countRefusals(records: readonly CallRecord[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { kind, status, code } of records) {
    if ((status > 0 && status < 400) || (kind === REVOKED_USE && status === 401)) continue;
    const key = `${kind}: ${status === 0 ? 'no response' : status} ${code}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

function renderTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const all = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const render = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ');
  return [...all.map(render), ''].join('\n');
}
