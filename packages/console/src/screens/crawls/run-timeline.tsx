import { run as runText } from '#text/run';
import { Time } from '../../ui/time.tsx';
import type { RunDetail } from './api.ts';
import { toAttemptId } from './attempts.tsx';
import { formatTime } from '../../text/dates.ts';
import { formatDuration } from './duration.ts';
import { outcomeTones } from './states.tsx';

const WIDTH = 1_000;
const MIN_WIDTH = 6;

/** The end, or how much later that is where both would read the same. */
function End({ run: { requestedAt, finishedAt } }: { run: RunDetail }) {
  if (finishedAt === null) return <span>{runText.now}</span>;
  if (formatTime(new Date(requestedAt)) !== formatTime(new Date(finishedAt)))
    return <Time at={finishedAt} as="full" />;
  return <span>{runText.endedAfter(formatDuration(requestedAt, finishedAt))}</span>;
}

/** Draws when each attempt of a run was in progress, from the run's due time to its end. */
export function RunTimeline({ run }: { run: RunDetail }) {
  const from = Date.parse(run.requestedAt);
  const to = run.finishedAt === null ? Date.now() : Date.parse(run.finishedAt);
  const toX = (at: number): number => (WIDTH * (at - from)) / Math.max(1, to - from);
  if (run.attemptLog.length === 0) return null;
  return (
    <figure className="chart timeline-figure">
      <svg
        className="timeline"
        viewBox={`0 0 ${WIDTH} 16`}
        preserveAspectRatio="none"
        role="img"
        aria-label={runText.timeline(run.attemptLog.length, (to - from) / 1000)}
      >
        <rect className="track" y="7" width={WIDTH} height="2" />
        {run.attemptLog.map((attempt) => {
          const { slice, number, outcome, startedAt, endedAt } = attempt;
          const x = toX(startedAt === null ? from : Date.parse(startedAt));
          const width = Math.max(MIN_WIDTH, toX(endedAt === null ? to : Date.parse(endedAt)) - x);
          return (
            <rect
              key={toAttemptId(attempt)}
              data-tone={outcomeTones[outcome]}
              x={Math.min(x, WIDTH - MIN_WIDTH)}
              width={width}
              height="16"
            >
              <title>{runText.attempt(number, slice)}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        <Time at={run.requestedAt} as="full" />
        <End run={run} />
      </figcaption>
    </figure>
  );
}
