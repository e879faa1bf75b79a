import { crawls as t } from '#text/crawls';
import { text } from '#text/shared';
import { crawl, unwrap } from '../../api/client.ts';
import { readConnectorKey } from '../../ui/connector-name.ts';
import { FilterBar } from '../../ui/filters.tsx';
import { ListView, Total } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/page.tsx';
import { SelectFilter } from '../../ui/select-filter.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { runColumns } from './run-columns.tsx';

const PAGE_SIZE = 25;
const OUTCOMES = Object.keys(t.outcomes) as (keyof typeof t.outcomes)[];

/** The runs of a connector that match the filter of the address. */
export function useRuns(connector: string) {
  const { filters } = useFilters();
  const outcome = OUTCOMES.find((known) => known === filters['outcome']);
  const list = useList({
    key: ['crawls', 'runs', connector, outcome],
    async load(cursor, signal) {
      const query = { ...toPageQuery(cursor, PAGE_SIZE), ...(outcome && { outcome }) };
      const params = { path: readConnectorKey(connector), query };
      return toListPage(
        await unwrap(
          crawl.GET('/api/v1/crawlingManager/{connector}/instances/{instance}/runs', { params, signal }),
        ),
      );
    },
    refresh: { everyMs: 5_000, getId: ({ runId }) => runId },
  });
  return { list, outcome };
}

export const ConnectorRuns = ({ connector, runs: { list, outcome } }: ConnectorRunsProps) => (
  <>
    <FilterBar>
      <SelectFilter
        label={t.runs.columns.outcome}
        name="outcome"
        options={OUTCOMES.map((key) => [key, t.outcomes[key]])}
      />
      <Total of={list.total} />
    </FilterBar>
    <ListView
      label={t.runs.title}
      list={list}
      columns={runColumns}
      getId={({ runId }) => runId}
      getHref={({ runId }) => `/crawls/connectors/${connector}/runs/${runId}`}
      empty={
        outcome === undefined ? (
          <Empty title={t.runs.emptyTitle}>{t.runs.emptyAdvice}</Empty>
        ) : (
          <Empty title={t.runs.noMatch}>{text.noMatchAdvice}</Empty>
        )
      }
    />
  </>
);

interface ConnectorRunsProps {
  readonly connector: string;
  readonly runs: ReturnType<typeof useRuns>;
}
