import type { IdentitySchemas } from '@platform/clients/types';
import { identity, unwrap } from '../../api/client.ts';
import { text } from '../../text/index.ts';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { DateFilter } from '../../ui/date-filter.tsx';
import { FilterBar, SearchBox } from '../../ui/filters.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { useNumberedList } from '../../ui/use-list.ts';

const t = text.audit;
const PAGE_SIZE = 50;

type Entry = IdentitySchemas['schemas']['AuditEntry'];

const toInstant = (day: string | undefined): string | undefined =>
  day === undefined || Number.isNaN(Date.parse(day)) ? undefined : new Date(`${day}T00:00`).toISOString();

const describeChanges = ({ changes }: Entry): string =>
  Object.entries(changes)
    .map(([field, { from, to }]) => `${field}: ${from ?? text.none} → ${to ?? text.none}`)
    .join(', ');

const describeDetail = ({ detail }: Entry): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');

const columns: readonly DataColumn<Entry>[] = [
  { id: 'action', label: t.columns.action, render: ({ action }) => <code>{action}</code> },
  {
    id: 'what',
    label: t.columns.what,
    isSecondary: true,
    render: (entry) => (
      <span className="stack">
        {[describeChanges(entry), describeDetail(entry)].filter(Boolean).join('; ')}
        {entry.reason !== null && <small>{t.because(entry.reason)}</small>}
      </span>
    ),
  },
  {
    id: 'actor',
    label: t.columns.actor,
    isSecondary: true,
    render: ({ actorId, credential }) => (
      <span className="stack">
        <code>{actorId ?? t.platform}</code>
        {credential && <small>{t.credentials[credential.kind as 'pat'] ?? credential.kind}</small>}
      </span>
    ),
  },
  { id: 'from', label: t.columns.from, isSecondary: true, render: ({ address }) => address ?? '' },
  { id: 'at', label: t.columns.at, render: ({ createdAt }) => <Time at={createdAt} as="full" /> },
];

export function Screen() {
  const { filters } = useFilters();
  const search = {
    action: filters['action'] || undefined,
    actorId: filters['actor'] || undefined,
    subjectId: filters['subject'] || undefined,
    from: toInstant(filters['from']),
    to: toInstant(filters['to']),
  };
  const given = Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
  const { more, ...query } = useNumberedList({
    key: ['audit', given],
    load: (page, signal) =>
      unwrap(
        identity.GET('/api/v1/audit', { params: { query: { page, limit: PAGE_SIZE, ...given } }, signal }),
      ),
  });
  return (
    <Page title={t.title} intro={t.intro}>
      <FilterBar>
        <SearchBox label={t.actionFilter} name="action" />
        <SearchBox label={t.actorFilter} name="actor" />
        <SearchBox label={t.subjectFilter} name="subject" />
        <DateFilter label={t.from} name="from" />
        <DateFilter label={t.to} name="to" />
      </FilterBar>
      <QueryView query={query}>
        {(entries) => (
          <DataTable
            label={t.title}
            columns={columns}
            items={entries}
            more={more}
            getId={({ id }) => id}
            empty={<Empty title={t.noMatch}>{text.noMatchAdvice}</Empty>}
          />
        )}
      </QueryView>
    </Page>
  );
}
