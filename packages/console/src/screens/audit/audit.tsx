import { text } from '../../text/index.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { DateFilter } from '../../ui/date-filter.tsx';
import { SelectFilter } from '../../ui/select-filter.tsx';
import { FilterBar } from '../../ui/filters.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { useList } from '../../ui/use-list.ts';
import { type AuditName, loadAuditPage, toSearch } from './api.ts';
import { createAuditColumns } from './audit-columns.tsx';
import { ChosenFilter } from './chosen-filter.tsx';
import { ExportAudit } from './export-audit.tsx';

const t = text.audit;

/** What happened in the organisation: filtered by pressing on a name, exported as it is filtered. */
export function Screen() {
  const { filters, setFilter } = useFilters();
  const search = toSearch(filters);
  const { more, ...query } = useList({
    key: ['audit', search],
    async load(cursor, signal) {
      const page = await loadAuditPage({ ...search, cursor }, signal);
      return {
        items: page.data.map((entry) => ({ entry, names: page.names })),
        next: page.nextCursor ?? undefined,
        names: page.names,
      };
    },
  });
  const names: Readonly<Record<string, AuditName>> = Object.assign(
    {},
    ...(query.pages ?? []).map((page) => page.names),
  );
  return (
    <Page title={t.title} intro={t.intro} actions={<ExportAudit search={search} />}>
      <FilterBar>
        <SelectFilter label={t.columns.action} name="action" options={Object.entries(t.actions)} />
        <DateFilter label={t.from} name="from" />
        <DateFilter label={t.to} name="to" />
        <ChosenFilter label={t.columns.actor} name="actor" names={names} />
        <ChosenFilter label={t.target} name="subject" names={names} />
      </FilterBar>
      <QueryView query={query}>
        {(rows) => (
          <DataTable
            label={t.title}
            columns={createAuditColumns(setFilter)}
            items={rows}
            more={more}
            getId={({ entry }) => entry.id}
            empty={<Empty title={t.noMatch}>{text.noMatchAdvice}</Empty>}
          />
        )}
      </QueryView>
    </Page>
  );
}
