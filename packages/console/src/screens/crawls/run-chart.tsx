import { queue as t } from '#text/queue';
import type { Queue } from './api.ts';

const BAR = 10;
const GAP = 3;
const HEIGHT = 60;

type Step = Queue['lastHour'][number];
const STATES = [
  ['completed', 'good'],
  ['failed', 'bad'],
  ['aborted', 'notice'],
] as const;

const sum = (steps: readonly Step[], state: 'completed' | 'failed'): number =>
  steps.reduce((total, step) => total + step[state], 0);

/** The runs that ended in each step of the last hour, one upon the other by their outcome. */
export function RunChart({ steps }: { steps: readonly Step[] }) {
  const highest = Math.max(4, ...steps.map(({ completed, failed, aborted }) => completed + failed + aborted));
  const width = steps.length * (BAR + GAP) - GAP;
  return (
    <figure className="chart">
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t.chart(sum(steps, 'completed'), sum(steps, 'failed'))}
      >
        {steps.map((step, index) => (
          <Bar key={step.from} step={step} x={index * (BAR + GAP)} unit={HEIGHT / highest} />
        ))}
      </svg>
      <figcaption>
        <span>{t.from}</span>
        <span>{t.chart(sum(steps, 'completed'), sum(steps, 'failed'))}</span>
        <span>{t.to}</span>
      </figcaption>
    </figure>
  );
}

function Bar({ step, x, unit }: { step: Step; x: number; unit: number }) {
  let top = HEIGHT;
  return (
    <>
      <rect className="track" x={x} width={BAR} height={HEIGHT} />
      {STATES.map(([state, tone]) => {
        const height = step[state] * unit;
        top -= height;
        return height > 0 && <rect key={state} data-tone={tone} x={x} y={top} width={BAR} height={height} />;
      })}
    </>
  );
}
