import { crawls } from '#text/crawls';
import { run as t } from '#text/run';
import { text } from '#text/shared';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { crawl, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { Facts, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import type { RunDetail } from './api.ts';
import { Attempts } from './attempts.tsx';
import { describeDuration, formatDuration } from './duration.ts';
import { RunTimeline } from './run-timeline.tsx';
import { Outcome } from './states.tsx';

const CancelRun = lazyPart(async () => (await import('./cancel-run.tsx')).CancelRun);

const REFRESH_MS = 1_000;

const isInProgress = ({ finishedAt }: RunDetail): boolean => finishedAt === null;

const runQuery = (path: { readonly connector: string; readonly runId: string }) =>
  queryOptions({
    queryKey: ['crawls', 'run', path.runId],
    queryFn: async ({ signal }) => {
      const call = crawl.GET('/api/v1/crawlingManager/{connector}/runs/{runId}', {
        params: { path },
        signal,
      });
      return (await unwrap(call)).data;
    },
    refetchInterval: ({ state }) => (state.data && isInProgress(state.data) ? REFRESH_MS : false),
  });

/** One run: what it did when, how it ended and why, and the event that it published. */
export function Screen() {
  const { connector = '', runId = '' }: { connector?: string; runId?: string } = useParams({ strict: false });
  const query = useQuery(runQuery({ connector, runId }));
  const [isCancelling, setCancelling] = useState(false);
  const run = query.data;
  return (
    <DetailPage
      query={query}
      title={t.title(connector)}
      trail={[[`/crawls/connectors/${connector}`, connector]]}
      actions={run && isInProgress(run) && <Button onPress={() => setCancelling(true)}>{t.cancel}</Button>}
    >
      <QueryView query={query}>{(found) => <Run run={found} />}</QueryView>
      {isCancelling && run && <CancelRun run={run} onClose={() => setCancelling(false)} />}
    </DetailPage>
  );
}

const Run = ({ run }: { run: RunDetail }) => (
  <>
    <RunFacts run={run} />
    {run.reason !== null && (
      <p className={run.outcome === 'failed' ? 'problem' : 'warning'} role="note">
        {run.reason}
      </p>
    )}
    <Section title={t.attempts}>
      <RunTimeline run={run} />
      <Attempts run={run} />
    </Section>
    <Section title={t.event}>
      {run.event ? (
        <>
          <Copyable label={t.event} value={JSON.stringify(run.event, undefined, 2)} />
          <p className="hint">
            <Link to="/crawls/events" search={{ connector: run.connector }}>
              {t.allEventsOf(run.connector)}
            </Link>
          </p>
        </>
      ) : (
        <p className="quiet-text">{run.eventId === null ? t.noEvent : t.eventGone}</p>
      )}
    </Section>
  </>
);

/** While it runs the page is read each second, so that this counts. */
function describeElapsed({ startedAt, finishedAt }: RunDetail): string {
  if (startedAt === null) return text.none;
  if (finishedAt !== null) return formatDuration(startedAt, finishedAt);
  return t.elapsed(describeDuration(Math.max(0, Date.now() - Date.parse(startedAt))));
}

const Progress = ({ percent }: { percent: number }) => (
  <span className="inline-copy">
    <progress max={100} value={percent} aria-label={t.progressOf(percent)} />
    {crawls.runs.progress(percent)}
  </span>
);

const RunFacts = ({ run }: { run: RunDetail }) => (
  <Facts
    of={[
      [crawls.runs.columns.outcome, <Outcome key="outcome" outcome={run.outcome} />],
      [crawls.runs.columns.trigger, crawls.runs.triggers[run.trigger]],
      [crawls.runs.columns.scheduledFor, <Time key="scheduled" at={run.scheduledFor} as="full" />],
      [t.started, run.startedAt ? <Time key="started" at={run.startedAt} as="full" /> : text.none],
      [t.ended, run.finishedAt ? <Time key="ended" at={run.finishedAt} as="full" /> : t.notYet],
      [crawls.runs.columns.duration, describeElapsed(run)],
      [t.attempts, t.attemptsOf(run.attempts, run.maxAttempts)],
      [t.progress, <Progress key="progress" percent={run.progress} />],
    ]}
  />
);
