import { crawls as t } from '#text/crawls';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { Run, Schedule } from './api.ts';

export const outcomeTones: Record<Run['outcome'], Tone> = {
  waiting: 'neutral',
  active: 'busy',
  retrying: 'notice',
  completed: 'good',
  failed: 'bad',
  aborted: 'notice',
  skipped: 'neutral',
};

/** Of a run, or of an attempt. A run that nobody crawls is not shown as a success. */
export function Outcome({ outcome, worker }: Pick<Run, 'outcome'> & Partial<Pick<Run, 'worker'>>) {
  if (outcome === 'completed' && worker === 'event') return <Badge tone="neutral">{t.eventPublished}</Badge>;
  return <Badge tone={outcomeTones[outcome]}>{t.outcomes[outcome]}</Badge>;
}

/** The outcome and, beside it, why. */
export const ReasonedOutcome = (run: Parameters<typeof Outcome>[0] & Pick<Run, 'reason'>) => (
  <span className="stack">
    <Outcome {...run} />
    {run.reason !== null && <small>{run.reason}</small>}
  </span>
);

export const stateTones: Record<Schedule['state'], Tone> = {
  waiting: 'neutral',
  active: 'busy',
  completed: 'good',
  failed: 'bad',
  delayed: 'good',
  paused: 'notice',
};

/** Shows the current state of a schedule; a recurring schedule between two runs is "scheduled". */
export function ScheduleState({ schedule }: { schedule: Schedule }) {
  if (schedule.overdueSince !== null) return <Badge tone="bad">{t.overdue}</Badge>;
  if (!schedule.data.scheduleConfig.isEnabled) return <Badge tone="neutral">{t.disabled}</Badge>;
  if (schedule.consecutiveFailures > 0 && schedule.state === 'delayed')
    return <Badge tone="bad">{t.failing(schedule.consecutiveFailures)}</Badge>;
  return <Badge tone={stateTones[schedule.state]}>{t.states[schedule.state]}</Badge>;
}

/** The last ten runs, oldest first, a mark each. */
export function RunMarks({ runs }: { runs: readonly Run[] }) {
  if (runs.length === 0) return <span className="quiet-text">{t.noRuns}</span>;
  const completed = runs.filter(({ outcome }) => outcome === 'completed').length;
  return (
    <span className="marks" role="img" aria-label={t.marks(completed, runs.length)}>
      {runs.toReversed().map(({ runId, outcome }) => (
        <i key={runId} data-tone={outcomeTones[outcome]} title={t.outcomes[outcome]} />
      ))}
    </span>
  );
}
