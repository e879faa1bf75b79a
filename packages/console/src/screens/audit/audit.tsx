import { audit as t } from '#text/audit';
import { text } from '#text/shared';
import { useMemo } from 'react';
import { DateFilter } from '../../ui/date-filter.tsx';
import { SearchBox } from '../../ui/filters.tsx';
import { SelectFilter } from '../../ui/select-filter.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { useList } from '../../ui/use-list.ts';
import { type AuditName, loadAuditPage, toSearch } from './api.ts';
import { createAuditColumns, foldEntry } from './audit-columns.tsx';
import { ChosenFilter } from './chosen-filter.tsx';
import { ExportAudit } from './export-audit.tsx';

/** The audit log of the organisation: filtered by pressing on a name, exported as it is filtered. */
export function Screen() {
  const { filters, setFilter } = useFilters();
  const columns = useMemo(() => createAuditColumns(setFilter), [setFilter]);
  const search = toSearch(filters);
  const list = useList({
    key: ['audit', search],
    async load(cursor, signal) {
      const page = await loadAuditPage({ ...search, cursor }, signal);
      return {
        items: page.data.map((entry) => ({ entry, names: page.names })),
        next: page.nextCursor ?? undefined,
        total: page.pagination,
        names: page.names,
      };
    },
  });
  const names: Readonly<Record<string, AuditName>> = Object.assign(
    {},
    ...(list.pages ?? []).map((page) => page.names),
  );
  return (
    <ListPage
      title={text.screens.audit}
      intro={t.intro}
      actions={<ExportAudit search={search} />}
      filters={
        <>
          <SearchBox label={t.filter} />
          <SelectFilter label={t.columns.action} name="action" options={Object.entries(t.actions)} />
          <DateFilter label={t.from} name="from" />
          <DateFilter label={t.to} name="to" />
          <ChosenFilter label={t.columns.actor} name="actor" names={names} />
          <ChosenFilter label={t.target} name="subject" names={names} />
        </>
      }
      list={list}
      columns={columns}
      getId={({ entry }) => entry.id}
      folded={foldEntry}
      getHref={({ entry }) => `/activity/${entry.id}`}
      empty={<NoMatch title={t.noMatch} />}
    />
  );
}
