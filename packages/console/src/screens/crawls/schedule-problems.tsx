import { scheduleProblems as t } from '#text/schedule-problems';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { crawl, unwrap } from '../../api/client.ts';
import { readConnectorKey } from '../../ui/connector-name.ts';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { type Run, type Schedule, toKey } from './api.ts';

const SHOWN = 5;

/** The newest times at which the schedule left a run out. */
const useSkippedRuns = (connector: string): readonly Run[] =>
  useQuery({
    queryKey: ['crawls', 'skipped-runs', connector],
    queryFn: async ({ signal }) => {
      const params = {
        path: readConnectorKey(connector),
        query: { limit: SHOWN, outcome: 'skipped' as const },
      };
      return (
        await unwrap(
          crawl.GET('/api/v1/crawlingManager/{connector}/instances/{instance}/runs', { params, signal }),
        )
      ).data;
    },
  }).data ?? [];

/** Explains what keeps, or kept, a schedule from running at its times; shows nothing when nothing does. */
export function ScheduleProblems({ schedule }: { schedule: Schedule }) {
  const skipped = useSkippedRuns(toKey(schedule));
  const reasons = listReasons(schedule);
  if (reasons.length === 0 && skipped.length === 0) return null;
  return (
    <Section title={t.title}>
      <ul className="reasons">
        {reasons.map(([key, reason]) => (
          <li key={key}>{reason}</li>
        ))}
        {skipped.map(({ runId, scheduledFor, reason }) => (
          <li key={runId}>
            <Time at={scheduledFor} as="full" />: {reason}.
          </li>
        ))}
      </ul>
    </Section>
  );
}

const INSTANT = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/;

/** A sentence of the platform, with the times in it as people read them. */
const Sentence = ({ children }: { children: string }) =>
  children
    .split(INSTANT)
    .map((part) => (INSTANT.test(part) ? <Time key={part} at={part} as="full" /> : part));

/** The reasons of a standstill without anything being wrong. */
const IN_ORDER: ReadonlySet<string> = new Set(['not_due', 'finished']);

function listReasons({ standstill, missedRuns, data }: Schedule) {
  const reasons: (readonly [key: string, reason: ReactNode])[] = [];
  if (standstill && !IN_ORDER.has(standstill.code))
    reasons.push([
      'standstill',
      <>
        <Sentence>{standstill.message}</Sentence>
        {standstill.code === 'paused' && ` ${t.pausedAdvice}`}
      </>,
    ]);
  if (missedRuns > 0)
    reasons.push(['missed', t.missed(missedRuns, data.scheduleConfig.missedRunPolicy === 'skip')]);
  return reasons;
}
