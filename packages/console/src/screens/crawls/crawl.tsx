import { crawls as t } from '#text/crawls';
import { text } from '#text/shared';
import { useParams } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { crawl, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { FilterBar, FilterToggle } from '../../ui/filters.tsx';
import { ListView } from '../../ui/list-page.tsx';
import { Empty, Facts, Page, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { type Schedule, schedulesQuery, useAct } from './api.ts';
import { describeDuration } from './duration.ts';
import { ScheduleWords } from './schedule-words.tsx';
import { runColumns } from './run-columns.tsx';
import { ScheduleState } from './states.tsx';
import { ScheduleProblems } from './schedule-problems.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';

const ConfirmRemoval = lazyPart(async () => (await import('./confirm-removal.tsx')).ConfirmRemoval);
const EditSchedule = lazyPart(async () => (await import('./edit-schedule.tsx')).EditSchedule);

const PAGE_SIZE = 25;

/** One connector: its schedule and its runs. */
export function Screen() {
  const { connector = '' }: { connector?: string } = useParams({ strict: false });
  const query = useQuery(schedulesQuery);
  const schedule = query.data?.find(({ data }) => data.connector === connector);
  const [open, setOpen] = useState<'edit' | 'remove'>();
  const act = useAct();
  const close = () => setOpen(undefined);
  const isPaused = schedule?.state === 'paused';
  return (
    <Page
      title={connector}
      intro={schedule && <ScheduleWords config={schedule.data.scheduleConfig} />}
      actions={
        schedule && (
          <>
            <Button onPress={() => act.mutate({ act: 'run', connectors: [connector] })}>{t.acts.run}</Button>
            <Button
              onPress={() => act.mutate({ act: isPaused ? 'resume' : 'pause', connectors: [connector] })}
            >
              {isPaused ? t.acts.resume : t.acts.pause}
            </Button>
            <Button onPress={() => setOpen('remove')}>{t.acts.remove}</Button>
            <Button kind="primary" onPress={() => setOpen('edit')}>
              {t.edit}
            </Button>
          </>
        )
      }
    >
      <QueryView query={query}>
        {() =>
          schedule ? (
            <>
              <ScheduleFacts schedule={schedule} />
              <ScheduleProblems schedule={schedule} />
            </>
          ) : (
            <p>{t.noSchedule}</p>
          )
        }
      </QueryView>
      <Section title={t.runs.title}>
        <Runs connector={connector} />
      </Section>
      {open === 'edit' && schedule && <EditSchedule schedule={schedule} scheduled={[]} onClose={close} />}
      {open === 'remove' && <ConfirmRemoval connectors={[connector]} onClose={close} />}
    </Page>
  );
}

const ScheduleFacts = ({ schedule }: { schedule: Schedule }) => (
  <Facts
    of={[
      [t.columns.state, <ScheduleState key="state" schedule={schedule} />],
      [
        t.columns.next,
        schedule.nextRunAt ? <Time key="next" at={schedule.nextRunAt} as="full" /> : text.none,
      ],
      ...(schedule.pausedAt ? [[t.pausedAt, <Time key="paused" at={schedule.pausedAt} />] as const] : []),
      ...(schedule.overdueSince
        ? [[t.overdueSince, <Time key="overdue" at={schedule.overdueSince} />] as const]
        : []),
      [t.missedRuns, schedule.missedRuns],
      [t.retries, schedule.maxRetries],
      [t.attemptTimeout, describeDuration(schedule.timeout)],
    ]}
  />
);

const OUTCOMES = ['any', 'completed', 'failed', 'aborted', 'skipped'] as const;

function Runs({ connector }: { connector: string }) {
  const { filters } = useFilters();
  const wanted = OUTCOMES.find((known) => known === filters['outcome']) ?? 'any';
  const list = useList({
    key: ['crawls', 'runs', connector, wanted],
    refreshMs: 5_000,
    async load(cursor, signal) {
      const query = { ...toPageQuery(cursor, PAGE_SIZE), ...(wanted !== 'any' && { outcome: wanted }) };
      const params = { path: { connector }, query };
      return toListPage(
        await unwrap(crawl.GET('/api/v1/crawlingManager/{connector}/runs', { params, signal })),
      );
    },
  });
  return (
    <>
      <FilterBar>
        <FilterToggle
          label={t.runs.columns.outcome}
          name="outcome"
          options={OUTCOMES.map((key) => [key, key === 'any' ? text.all : t.outcomes[key]])}
        />
      </FilterBar>
      <ListView
        label={t.runs.title}
        list={list}
        columns={runColumns}
        getId={({ runId }) => runId}
        getHref={({ runId }) => `/crawls/connectors/${connector}/runs/${runId}`}
        empty={
          wanted === 'any' ? (
            <Empty title={t.runs.emptyTitle}>{t.runs.emptyAdvice}</Empty>
          ) : (
            <Empty title={t.runs.noMatch}>{text.noMatchAdvice}</Empty>
          )
        }
      />
    </>
  );
}
