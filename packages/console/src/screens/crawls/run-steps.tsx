import { crawls } from '#text/crawls';
import { run as runText } from '#text/run';
import type { ReactNode } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Time } from '../../ui/time.tsx';
import type { RunDetail } from './api.ts';
import { formatDuration } from './duration.ts';
import { outcomeTones } from './states.tsx';

const t = runText.steps;
/** The attempts of a long run that are shown one by one; the table below has all of them. */
const SHOWN_FIRST = 2;
const SHOWN_LAST = 6;

interface Step {
  readonly id: string;
  readonly title: string;
  readonly at: string | null;
  /** How long it took. */
  readonly took: string;
  readonly detail?: ReactNode;
  readonly tone: 'good' | 'bad' | 'busy' | 'notice' | 'neutral';
}

/** What happened in a run, one after the other: due, claimed, each slice, its end, and the event. */
export function RunSteps({ run }: { run: RunDetail }) {
  return (
    <ol className="run-steps">
      {toSteps(run).map(({ id, title, at, took, detail, tone }) => (
        <li key={id} data-tone={tone}>
          <div>
            <strong>{title}</strong>
            {detail !== undefined && <p>{detail}</p>}
          </div>
          <span className="quiet-text">
            {at !== null && <Time at={at} as="full" />}
            {took !== '' && <Badge tone="neutral">{took}</Badge>}
          </span>
        </li>
      ))}
    </ol>
  );
}

function toSteps(run: RunDetail): readonly Step[] {
  const { requestedAt, startedAt, finishedAt, claimedBy, worker, event, outcome, reason } = run;
  const due: Step = { id: 'due', title: t.due, at: requestedAt, took: '', tone: 'neutral' };
  const claimed: Step = {
    id: 'claimed',
    title: worker === 'pull' && claimedBy !== null ? t.claimedBy(claimedBy) : t.started,
    at: startedAt,
    took: startedAt === null ? '' : t.after(formatDuration(requestedAt, startedAt)),
    tone: 'neutral',
  };
  const end: Step = {
    id: 'end',
    title: crawls.outcomes[outcome],
    at: finishedAt,
    took: finishedAt === null ? '' : t.inAll(formatDuration(requestedAt, finishedAt)),
    tone: outcomeTones[outcome],
    ...(reason !== null && outcome !== 'completed' && { detail: reason }),
  };
  const published: Step[] = event
    ? [
        {
          id: 'event',
          title: t.published(event.eventType),
          at: new Date(event.timestamp).toISOString(),
          took: '',
          tone: 'good',
        },
      ]
    : [];
  return [
    due,
    ...(startedAt === null ? [] : [claimed]),
    ...toAttempts(run),
    ...(finishedAt === null ? [] : [end, ...published]),
  ];
}

function toAttempts({ attemptLog, maxAttempts }: RunDetail): readonly Step[] {
  const hasSlices = (attemptLog.at(-1)?.slice ?? 1) > 1;
  // The one attempt of a run without slices is the run.
  if (!hasSlices && attemptLog.length < 2 && maxAttempts > 0) return [];
  const steps = attemptLog.map(({ slice, number, outcome, startedAt, endedAt, reason }): Step => ({
    id: `${slice}.${number}`,
    title: runText.attempt(number, slice),
    at: startedAt,
    took: formatDuration(startedAt, endedAt) || runText.notYet,
    tone: outcomeTones[outcome],
    ...(reason !== null && { detail: reason }),
  }));
  const left = steps.length - SHOWN_FIRST - SHOWN_LAST;
  if (left <= 1) return steps;
  const gap: Step = { id: 'gap', title: t.more(left), at: null, took: '', tone: 'neutral' };
  return [...steps.slice(0, SHOWN_FIRST), gap, ...steps.slice(-SHOWN_LAST)];
}
