import { crawls } from '#text/crawls';
import type { DataColumn } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import type { Run } from './api.ts';
import { formatDuration } from './duration.ts';
import { Outcome, ReasonedOutcome } from './states.tsx';

const t = crawls.runs;
/** Up to here the platform counts by itself. */
export const ACCEPTED_PERCENT = 20;

export const runColumns: readonly DataColumn<Run>[] = [
  {
    id: 'scheduledFor',
    label: t.columns.scheduledFor,
    render: ({ scheduledFor }) => <Time at={scheduledFor} as="full" />,
  },
  {
    id: 'outcome',
    label: t.columns.outcome,
    isFreeText: true,
    render: (run) =>
      run.outcome === 'active' && run.progress > ACCEPTED_PERCENT ? (
        <span className="stack">
          <Outcome {...run} />
          <small>{t.progress(run.progress)}</small>
        </span>
      ) : (
        <ReasonedOutcome {...run} />
      ),
  },
  {
    id: 'trigger',
    label: t.columns.trigger,
    isSecondary: true,
    render: ({ trigger, requestedBy }) => requestedBy?.name || t.triggers[trigger],
  },
  { id: 'attempts', label: t.columns.attempts, isSecondary: true, render: ({ attempts }) => attempts },
  {
    id: 'duration',
    label: t.columns.duration,
    isSecondary: true,
    render: ({ startedAt, finishedAt }) => formatDuration(startedAt, finishedAt),
  },
];
