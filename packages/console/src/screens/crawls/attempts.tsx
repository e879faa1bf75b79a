import { run as t } from '#text/run';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { formatDuration } from './duration.ts';
import type { RunDetail } from './api.ts';
import { Outcome } from './states.tsx';

type Attempt = RunDetail['attemptLog'][number];

const columns: readonly DataColumn<Attempt>[] = [
  { id: 'number', label: t.columns.number, isNarrow: true, render: ({ number }) => number },
  { id: 'outcome', label: t.columns.outcome, render: ({ outcome }) => <Outcome outcome={outcome} /> },
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
  { id: 'reason', label: t.columns.reason, isFreeText: true, render: ({ reason }) => reason ?? '' },
];

function explainNoAttempt({ outcome, finishedAt }: RunDetail): string {
  if (outcome === 'skipped') return t.skippedAdvice;
  return finishedAt === null ? t.waitingAdvice : t.cancelledAdvice;
}

export const Attempts = ({ run }: { run: RunDetail }) => (
  <DataTable
    label={t.attempts}
    columns={columns}
    items={run.attemptLog}
    getId={({ number }) => String(number)}
    empty={<Empty title={t.noAttempt}>{explainNoAttempt(run)}</Empty>}
  />
);
