import { crawls as t } from '#text/crawls';
import type { ReactNode } from 'react';
import { crawl, unwrap } from '../../api/client.ts';
import { readConnectorKey } from '../../ui/connector-name.ts';
import { FilterBar, SearchBox } from '../../ui/filters.tsx';
import { ListView, Total } from '../../ui/list-page.tsx';
import { SelectFilter } from '../../ui/select-filter.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { runColumns } from './run-columns.tsx';

const PAGE_SIZE = 25;
const OUTCOMES = Object.keys(t.outcomes) as (keyof typeof t.outcomes)[];

/** The runs of a connector that match the filter of the address. */
export function useRuns(connector: string) {
  const { filters } = useFilters();
  const outcome = OUTCOMES.find((known) => known === filters['outcome']);
  const q = filters['q']?.trim() ?? '';
  const list = useList({
    key: ['crawls', 'runs', connector, outcome, q],
    async load(cursor, signal) {
      const query = { ...toPageQuery(cursor, PAGE_SIZE), ...(outcome && { outcome }), ...(q && { q }) };
      const params = { path: readConnectorKey(connector), query };
      return toListPage(
        await unwrap(
          crawl.GET('/api/v1/crawlingManager/{connector}/instances/{instance}/runs', { params, signal }),
        ),
      );
    },
    refresh: { everyMs: 5_000, getId: ({ runId }) => runId },
  });
  return { list, isFiltered: outcome !== undefined || q !== '' };
}

export const ConnectorRuns = ({ connector, runs: { list, isFiltered }, empty }: ConnectorRunsProps) => (
  <>
    <FilterBar>
      <SearchBox label={t.runs.search} />
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
      empty={isFiltered ? <NoMatch title={t.runs.noMatch} /> : empty}
    />
  </>
);

interface ConnectorRunsProps {
  readonly connector: string;
  readonly runs: ReturnType<typeof useRuns>;
  /** Shown while there are no runs. */
  readonly empty: ReactNode;
}
