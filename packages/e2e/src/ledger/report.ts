import { FINDING_KINDS, type Finding, type Recovery, TOKEN } from './check.js';
import type { Operation } from './history.js';
import { describeFault } from './plan.js';
import type { Reckoning } from './reckon.js';

const EXAMPLES = 10;

export interface Ledger {
  readonly reckoning: Reckoning;
  readonly findings: readonly Finding[];
  /** The processes that ended by themselves. */
  readonly deaths: readonly string[];
  readonly operations: readonly Operation[];
  readonly recoveries: readonly Recovery[];
  readonly startedAt: number;
  readonly minutes: number;
  readonly seeds: readonly number[];
  /** Repeats the run. */
  readonly command: string;
  /** Of the commit and of the programs, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** The file of the history, when it is kept. */
  readonly historyFile: string | undefined;
}

/** Returns whether every job was done, no check has found anything, and no process ended by itself. */
export const isSound = ({
  reckoning,
  findings,
  deaths,
}: Pick<Ledger, 'reckoning' | 'findings' | 'deaths'>): boolean =>
  findings.length === 0 &&
  deaths.length === 0 &&
  Object.values(reckoning).every(
    ({ accepted, lost, doubled }) => accepted > 0 && lost.length === 0 && doubled.length === 0,
  );

/** Renders the ledger as a page of Markdown, which a terminal shows as well. */
export function renderReport(ledger: Ledger): string {
  const { reckoning, findings, operations, recoveries, minutes, seeds, versions } = ledger;
  const jobs = Object.entries(reckoning).map(([job, { accepted, lost, doubled, givenUp }]) => [
    job,
    accepted,
    lost.length,
    doubled.length,
    givenUp.length,
  ]);
  const failed = operations.filter(({ status }) => status === 0 || status >= 500).length;
  const count = (outcome: Operation['outcome']) => operations.filter((one) => one.outcome === outcome).length;
  const sections = [
    `# Ledger: ${isSound(ledger) ? 'sound' : 'NOT SOUND'}`,
    `${operations.length} requests in ${minutes} minutes with ${recoveries.length} faults: ${count('ok')} ok, ${count('refused')} refused, ${count('indeterminate')} indeterminate, of which ${failed} failed with 5xx or without a response. Seeds: ${seeds.join(', ')}. To repeat it: \`${ledger.command}\``,
    renderTable(
      ['Version', ''],
      Object.entries(versions).map(([name, version]) => [name, version]),
    ),
    renderTable(['Job', 'accepted', 'lost', 'doubled', 'given up'], jobs),
    renderTable(
      ['Check', 'found'],
      [
        ...FINDING_KINDS.map((kind) => [kind, findings.filter((one) => one.kind === kind).length]),
        ['processes that ended by themselves', ledger.deaths.length],
      ],
    ),
    renderTable(
      ['Fault', 'at', 'mended after', 'failed requests', 'recovered after'],
      recoveries.map(({ fault, failed: failures, recoveredMs }) => [
        describeFault(fault),
        toSeconds(fault.startedAt - ledger.startedAt),
        toSeconds(fault.mendedAt - fault.startedAt),
        failures,
        failures === 0 ? '-' : recoveredMs === undefined ? 'never' : toSeconds(recoveredMs),
      ]),
    ),
    renderTable(['Refused or failed', 'requests'], countRefusals(operations)),
    ...renderProblems(ledger),
  ];
  return `${sections.join('\n\n')}\n`;
}

function renderProblems({
  reckoning,
  findings,
  deaths,
  recoveries,
  startedAt,
  historyFile,
}: Ledger): string[] {
  const jobs = Object.entries(reckoning).flatMap(([job, verdict]) =>
    (['lost', 'doubled', 'givenUp'] as const).flatMap((key) =>
      verdict[key]
        .slice(0, EXAMPLES)
        .map((text) => `- ${key === 'givenUp' ? 'given up' : key} (${job}): ${text}`),
    ),
  );
  const found = FINDING_KINDS.flatMap((kind) =>
    findings
      .filter((one) => one.kind === kind)
      .slice(0, EXAMPLES)
      .map(({ object, text, at }) => {
        const last = recoveries.findLast(({ fault }) => fault.startedAt <= at)?.fault;
        const when = at === 0 ? '' : ` at ${toSeconds(at - startedAt)}`;
        const after = at === 0 || last === undefined ? '' : `, after "${describeFault(last)}"`;
        return `- ${kind}: ${object}: ${text}${when}${after}`;
      }),
  );
  const ended = deaths.map((name) => `- ended by itself: ${name}`);
  const history = historyFile === undefined ? [] : [`The history: ${historyFile}`];
  const list = [...jobs, ...found, ...ended];
  return [...(list.length === 0 ? [] : [list.join('\n')]), ...history];
}

const toSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Counts refusals by kind, status and code, without those of revoked tokens, which are wanted. */
function countRefusals(operations: readonly Operation[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { kind, status, code } of operations) {
    if ((status > 0 && status < 400) || (kind === TOKEN.useOnceRevoked && status === 401)) continue;
    const key = `${kind}: ${status === 0 ? 'no response' : status} ${code}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

function renderTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const all = [head, ...rows.map((row) => row.map((cell) => String(cell).replaceAll('|', '\\|')))];
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)));
  const render = (row: readonly string[]): string =>
    `| ${row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join(' | ')} |`;
  const line = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [render(all[0] as string[]), line, ...all.slice(1).map(render)].join('\n');
}
