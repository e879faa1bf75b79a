import { crawls as t } from '#text/crawls';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { BulkButton } from '../../ui/bulk-button.tsx';
import { Button } from '../../ui/button.tsx';
import { getConnectorName } from '../../ui/connector-name.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyButton } from '../../ui/dialog-button.tsx';
import { FilterBar, SearchBox } from '../../ui/filters.tsx';
import { PlusIcon } from '../../ui/icons.tsx';
import { Total } from '../../ui/list-page.tsx';
import { useMainDialog } from '../../ui/main-dialog.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { type Act, type Schedule, schedulesQuery, toKey, useAct } from './api.ts';
import { createCrawlColumns, foldSchedule } from './crawl-columns.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';

const ConfirmRemoval = lazyPart(async () => (await import('./confirm-removal.tsx')).ConfirmRemoval);
const EditSchedule = lazyPart(async () => (await import('./edit-schedule.tsx')).EditSchedule);

/** A row per scheduled connector; there are at most as many as the platform knows connectors. */
export function Screen() {
  const query = useQuery(schedulesQuery);
  const { filters } = useFilters();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [editing, setEditing] = useState<Schedule>();
  const { isOpen: isAdding, open: addNew, close: closeNew } = useMainDialog();
  const [removing, setRemoving] = useState<readonly string[]>();
  const { mutate } = useAct();
  const perform = useCallback(
    (what: Act, connectors: readonly string[]): void => {
      if (what === 'remove') setRemoving(connectors);
      else mutate({ act: what, connectors });
    },
    [mutate],
  );
  const columns = useMemo(() => createCrawlColumns({ edit: setEditing, perform }), [perform]);
  const add = (
    <Button kind="primary" onPress={addNew}>
      <PlusIcon />
      {t.add}
    </Button>
  );
  return (
    <Page title={text.screens.crawls} intro={t.intro} actions={add}>
      <QueryView query={query}>
        {(schedules) => (
          <>
            {schedules.length > 0 && (
              <FilterBar>
                <SearchBox label={t.filter} />
                <Total of={{ total: schedules.length }} />
                {selected.size > 0 && (
                  <BulkActions
                    schedules={schedules.filter((schedule) => selected.has(toKey(schedule)))}
                    onAct={perform}
                  />
                )}
              </FilterBar>
            )}
            <DataTable
              label={text.screens.crawls}
              columns={columns}
              items={schedules.filter((schedule) => matches(schedule, filters['q'] ?? '')).toSorted(byNeed)}
              getId={toKey}
              folded={foldSchedule}
              getHref={(schedule) => `/crawls/connectors/${toKey(schedule)}`}
              selection={{ keys: selected, onChange: setSelected }}
              empty={
                schedules.length === 0 ? (
                  <Empty title={t.emptyTitle} action={<EmptyButton label={t.addFirst} />}>
                    {t.emptyAdvice}
                  </Empty>
                ) : (
                  <NoMatch title={t.noMatch} />
                )
              }
            />
          </>
        )}
      </QueryView>
      {editing && <EditSchedule schedule={editing} others={[]} onClose={() => setEditing(undefined)} />}
      {isAdding && query.data && <EditSchedule others={query.data} onClose={closeNew} />}
      {removing && <ConfirmRemoval connectors={removing} onClose={() => setRemoving(undefined)} />}
    </Page>
  );
}

const getName = (schedule: Schedule): string => getConnectorName(toKey(schedule), schedule.displayName);

const matches = (schedule: Schedule, q: string): boolean =>
  `${getName(schedule)} ${getConnectorName(schedule.data.connector)} ${toKey(schedule)}`
    .toLowerCase()
    .includes(q.trim().toLowerCase());

const isFailing = ({ consecutiveFailures, overdueSince }: Schedule): boolean =>
  consecutiveFailures > 0 || overdueSince !== null;

/** Failing ones first, then by name. */
const byNeed = (one: Schedule, other: Schedule): number =>
  Number(isFailing(other)) - Number(isFailing(one)) || getName(one).localeCompare(getName(other));

interface BulkActionsProps {
  readonly schedules: readonly Schedule[];
  onAct(act: Act, connectors: readonly string[]): void;
}

const isPaused = ({ state }: Schedule): boolean => state === 'paused';

/** The actions on several schedules, and the schedules that each applies to. */
const bulkActs: readonly (readonly [act: Act, applies: (schedule: Schedule) => boolean])[] = [
  ['run', (schedule) => !isPaused(schedule)],
  ['pause', (schedule) => !isPaused(schedule)],
  ['resume', isPaused],
  ['remove', () => true],
];

const BulkActions = ({ schedules, onAct }: BulkActionsProps) => (
  <>
    <span className="quiet-text">{t.selected(schedules.length)}</span>
    {bulkActs.map(([act, applies]) => (
      <BulkButton
        key={act}
        label={t.acts[act]}
        count={schedules.length}
        fitting={schedules.filter(applies)}
        onPress={(fitting) => onAct(act, fitting.map(toKey))}
      />
    ))}
  </>
);
