import { run as t } from '#text/run';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { formatDuration } from './duration.ts';
import type { RunDetail } from './api.ts';
import { ReasonedOutcome } from './states.tsx';

type Attempt = RunDetail['attemptLog'][number];

const columns: readonly DataColumn<Attempt>[] = [
  { id: 'number', label: t.columns.number, isNarrow: true, render: ({ number }) => number },
  {
    id: 'outcome',
    label: t.columns.outcome,
    isFreeText: true,
    render: ({ outcome, reason }) => <ReasonedOutcome outcome={outcome} reason={reason} />,
  },
  {
    id: 'started',
    label: t.started,
    isSecondary: true,
    render: ({ startedAt }) => startedAt !== null && <Time at={startedAt} as="full" />,
  },
  {
    id: 'duration',
    label: t.columns.duration,
    render: ({ startedAt, endedAt }) => formatDuration(startedAt, endedAt) || t.notYet,
  },
];

const slicedColumns: readonly DataColumn<Attempt>[] = [
  { id: 'slice', label: t.columns.slice, isNarrow: true, render: ({ slice }) => slice },
  ...columns,
];

const hasSlices = ({ attemptLog }: RunDetail): boolean => (attemptLog.at(-1)?.slice ?? 1) > 1;

export const toAttemptId = ({ slice, number }: Attempt): string => `${slice}.${number}`;

/** A run that workers claim has no attempt between two slices, and after it was handed back. */
function NoAttempt({ outcome, startedAt, finishedAt }: RunDetail) {
  if (outcome === 'skipped') return <Empty title={t.noAttempt}>{t.skippedAdvice}</Empty>;
  const title = startedAt === null ? t.noAttempt : t.noCurrentAttempt;
  if (finishedAt === null) return <Empty title={title}>{t.waitingAdvice}</Empty>;
  return <Empty title={title}>{startedAt === null ? t.cancelledAdvice : t.endedAdvice}</Empty>;
}

export const Attempts = ({ run }: { run: RunDetail }) => (
  <DataTable
    label={t.attempts}
    columns={hasSlices(run) ? slicedColumns : columns}
    items={run.attemptLog}
    getId={toAttemptId}
    empty={<NoAttempt {...run} />}
  />
);
