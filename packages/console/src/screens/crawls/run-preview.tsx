import { scheduleEditor as t } from '#text/schedule-editor';
import type { CrawlSchemas } from '@platform/clients/types';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { crawl, unwrap } from '../../api/client.ts';
import { readOnly } from '../../api/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { explainProblem } from '../../ui/problem-note.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import type { ScheduleConfigInput } from './api.ts';
import { formatLocalTime, hasClockChanged } from '../../text/dates.ts';

const SHOWN = 10;
type NextRun = CrawlSchemas['schemas']['NextRuns']['nextRuns'][number];

interface RunPreviewProps {
  readonly connector: string;
  readonly config: ScheduleConfigInput | undefined;
}

/** The next runs of the typed schedule, computed by the platform, so that they match the runs that will happen. */
export function RunPreview({ connector, config }: RunPreviewProps) {
  const settled = useSettled(config);
  // The answer to the question before stays while the next one is loaded, and not when nothing is asked.
  const isAsked = config !== undefined && settled !== undefined && connector !== '';
  const query = useQuery({
    queryKey: ['crawl-preview', connector, settled],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          crawl.POST('/api/v1/crawlingManager/{connector}/preview', {
            params: { path: { connector }, query: { count: SHOWN } },
            body: { scheduleConfig: settled as ScheduleConfigInput },
            signal,
            ...readOnly,
          }),
        )
      ).data,
    enabled: isAsked,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const { data, error } = isAsked ? query : {};
  return (
    <section className="preview" aria-label={t.next} aria-busy={isAsked && query.isPlaceholderData}>
      <h3>{data ? t.nextIn(data.timezone) : t.next}</h3>
      {error && <p className="fault">{explainProblem(error)}</p>}
      {data && !error && <NextRuns {...data} />}
      {!data && !error && <p className="hint">{t.nextUnknown}</p>}
    </section>
  );
}

const NextRuns = ({ nextRuns, timezone }: { nextRuns: readonly NextRun[]; timezone: string }) =>
  nextRuns.length === 0 ? (
    <p className="hint">{t.nextNone}</p>
  ) : (
    <ol>
      {nextRuns.map(({ at, localTime }, index) => (
        <li key={at}>
          <time dateTime={at}>{formatLocalTime(localTime)}</time>
          {hasClockChanged(nextRuns[index - 1]?.localTime, localTime) && (
            <Badge tone="notice">{t.clockChange(timezone)}</Badge>
          )}
        </li>
      ))}
    </ol>
  );
