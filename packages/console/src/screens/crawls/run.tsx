import { crawls } from '#text/crawls';
import { run as t } from '#text/run';
import { LOCALE, text } from '#text/shared';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { crawl, unwrap } from '../../api/client.ts';
import { getRecoveryInterval } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { getConnectorName, readConnectorKey } from '../../ui/connector-name.ts';
import { Copyable, CopyId } from '../../ui/copy.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { Facts, Figures, Section } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Age, Time, ZonedTime } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';
import { type RunDetail, schedulesQuery, toKey } from './api.ts';
import { Attempts } from './attempts.tsx';
import { describeDuration, formatDuration } from './duration.ts';
import { ACCEPTED_PERCENT } from './run-columns.tsx';
import { RunCompared } from './run-compared.tsx';
import { RunLog } from './run-log.tsx';
import { RunSteps } from './run-steps.tsx';
import { RunTimeline } from './run-timeline.tsx';
import { Outcome } from './states.tsx';

const CancelRun = lazyPart(async () => (await import('./cancel-run.tsx')).CancelRun);

const REFRESH_MS = 1_000;

const isInProgress = ({ finishedAt }: RunDetail): boolean => finishedAt === null;

const runQuery = (path: { readonly connector: string; readonly runId: string }) =>
  queryOptions({
    queryKey: ['crawls', 'run', path.runId],
    queryFn: async ({ signal }) => {
      const call = crawl.GET('/api/v1/crawlingManager/{connector}/instances/{instance}/runs/{runId}', {
        params: { path: { ...readConnectorKey(path.connector), runId: path.runId } },
        signal,
      });
      return (await unwrap(call)).data;
    },
    refetchInterval: (query) =>
      query.state.data && isInProgress(query.state.data) ? REFRESH_MS : getRecoveryInterval(query),
  });

/** One run: what it did when, how it ended and why, and the event that it published. */
export function Screen() {
  const { connector = '', runId = '' }: { connector?: string; runId?: string } = useParams({ strict: false });
  const query = useQuery(runQuery({ connector, runId }));
  const [isCancelling, setCancelling] = useState(false);
  const run = query.data;
  const schedule = useQuery(schedulesQuery).data?.find((known) => toKey(known) === connector);
  const zone = schedule?.data.scheduleConfig.timezone;
  const name = getConnectorName(connector, schedule?.displayName);
  return (
    <DetailPage
      query={query}
      title={t.title(name)}
      trail={[[`/crawls/connectors/${connector}`, name]]}
      actions={
        run &&
        (isInProgress(run) ? (
          <Button onPress={() => setCancelling(true)}>{t.cancel}</Button>
        ) : (
          schedule && <RunAgain connector={connector} isPaused={schedule.state === 'paused'} />
        ))
      }
    >
      <QueryView query={query}>{(found) => <Run run={found} zone={zone} />}</QueryView>
      {isCancelling && run && <CancelRun run={run} onClose={() => setCancelling(false)} />}
    </DetailPage>
  );
}

/** Asks for another run of the same instance, and shows it. */
function RunAgain({ connector, isPaused }: { connector: string; isPaused: boolean }) {
  const navigate = useNavigate();
  const again = useAction({
    changes: [['crawls']],
    mutationFn: async () =>
      (
        await unwrap(
          crawl.POST('/api/v1/crawlingManager/{connector}/instances/{instance}/run', {
            params: { path: readConnectorKey(connector) },
          }),
        )
      ).data,
    onDone: ({ runId }) => void navigate({ to: `/crawls/connectors/${connector}/runs/${runId}` }),
  });
  return (
    <>
      <Button isDisabled={isPaused} isPending={again.isPending} onPress={() => again.mutate()}>
        {t.again}
      </Button>
      <ProblemNote error={again.error} />
    </>
  );
}

const Run = ({ run, zone }: { run: RunDetail; zone: string | undefined }) => (
  <>
    <RunFigures run={run} />
    {run.outcome === 'active' && <Progress percent={run.progress} />}
    {run.reason !== null && (
      <p className={run.outcome === 'failed' ? 'problem' : 'warning'} role="note">
        {run.reason}
        {run.waitingSince !== null && isInProgress(run) && (
          <>
            {' '}
            ({t.waitingFor} <Age since={run.waitingSince} />)
          </>
        )}
      </p>
    )}
    <Section title={t.steps.title}>
      <RunTimeline run={run} />
      <RunSteps run={run} />
    </Section>
    <RunFacts run={run} zone={zone} />
    <RunCompared run={run} />
    {run.log.length > 0 && <RunLog run={run} />}
    <Section title={t.attempts}>
      <Attempts run={run} />
    </Section>
    <Section title={t.event}>
      {run.event ? (
        <>
          <Copyable label={t.event} value={JSON.stringify(run.event, undefined, 2)} />
          <p className="hint">
            <Link to="/crawls/sync-events" search={{ connector: run.connector }}>
              {t.allEventsOf(getConnectorName(run.connector))}
            </Link>
          </p>
        </>
      ) : (
        <p className="quiet-text">{describeNoEvent(run)}</p>
      )}
    </Section>
  </>
);

function describeNoEvent({ eventId, finishedAt }: RunDetail): string {
  if (eventId !== null) return t.eventGone;
  return finishedAt === null ? t.noEventYet : t.noEvent;
}

const number = new Intl.NumberFormat(LOCALE);
const bytes = new Intl.NumberFormat(LOCALE, {
  style: 'unit',
  unit: 'byte',
  notation: 'compact',
  unitDisplay: 'narrow',
});

/** The narrow form is the only one with the short unit, and has no space before it. */
const formatBytes = (count: number): string =>
  bytes.format(count).replace(/(?<=\d)(?=\D)(?![.,]\d)/, '\u00a0');

/** The figures of a run so far. A run without a worker that counts has only a state and a time. */
function RunFigures({ run }: { run: RunDetail }) {
  const { items, deleted, failed } = run;
  const isCounted = run.worker === 'pull' || items + deleted + failed + run.bytes > 0;
  const figures: readonly (readonly [name: string, value: ReactNode])[] = [
    [crawls.runs.columns.outcome, <Outcome key="outcome" {...run} />],
    [crawls.runs.columns.duration, <Elapsed key="elapsed" run={run} />],
    ...(isCounted
      ? ([
          [t.counters.items, number.format(items)],
          [t.counters.deleted, number.format(deleted)],
          [t.counters.failed, number.format(failed)],
          [t.counters.bytes, formatBytes(run.bytes)],
        ] as const)
      : []),
  ];
  return <Figures of={figures} className="run" />;
}

/** How long it took, or has taken by now: counted here, whether or not anything else changes. */
function Elapsed({ run: { startedAt, finishedAt } }: { run: RunDetail }) {
  const [now, setNow] = useState(() => Date.now());
  const isCounting = startedAt !== null && finishedAt === null;
  useEffect(() => {
    if (!isCounting) return undefined;
    const timer = setInterval(() => setNow(Date.now()), REFRESH_MS);
    return () => clearInterval(timer);
  }, [isCounting]);
  if (startedAt === null) return text.none;
  if (finishedAt !== null) return formatDuration(startedAt, finishedAt);
  return describeDuration(Math.max(0, Math.floor((now - Date.parse(startedAt)) / 1_000) * 1_000));
}

/** Up to the percentage that the platform counts by itself, a worker that has reported less looks like a silent one. */
const Progress = ({ percent }: { percent: number }) => {
  const isKnown = percent > ACCEPTED_PERCENT;
  return (
    <p className="run-progress">
      <progress max={100} {...(isKnown && { value: percent })} aria-label={t.progress} />
      {isKnown ? crawls.runs.progress(percent) : t.progressUnknown}
    </p>
  );
};

function describeTrigger({ trigger, requestedBy }: RunDetail): string {
  return requestedBy && requestedBy.name !== ''
    ? t.requestedBy(requestedBy.name)
    : crawls.runs.triggers[trigger];
}

const RunFacts = ({ run, zone }: { run: RunDetail; zone: string | undefined }) => (
  <Facts
    of={[
      [crawls.runs.columns.trigger, describeTrigger(run)],
      [t.worker, <WorkerOf key="worker" run={run} />],
      ...(run.leaseUntil !== null && run.worker === 'pull'
        ? [[t.lease, <Time key="lease" at={run.leaseUntil} as="full" />] as const]
        : []),
      [t.mode, t.modes[run.mode]],
      [crawls.runs.columns.scheduledFor, <ZonedTime key="scheduled" at={run.scheduledFor} zone={zone} />],
      [t.started, run.startedAt ? <Time key="started" at={run.startedAt} as="full" /> : text.none],
      [t.ended, run.finishedAt ? <Time key="ended" at={run.finishedAt} as="full" /> : t.notYet],
      [t.attempts, t.attemptsOf(run.attempts, run.maxAttempts)],
      ...(run.worker === 'pull' ? [[t.slices, run.slices] as const] : []),
      [t.id, <CopyId key="id" value={run.runId} label={t.id} />],
    ]}
  />
);

function WorkerOf({ run }: { run: RunDetail }) {
  const { worker, endpoint, claimedBy, claimedAt } = run;
  if (endpoint) return <Link to="/crawls/endpoints">{endpoint.name}</Link>;
  if (worker !== 'pull') return crawls.workers[worker];
  if (claimedBy === null || claimedAt === null) return isInProgress(run) ? t.unclaimed : t.neverClaimed;
  return (
    <>
      {t.claimedBy(claimedBy)} <Time at={claimedAt} />
    </>
  );
}
