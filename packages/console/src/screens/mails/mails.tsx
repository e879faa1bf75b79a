import type { MailSchemas } from '@platform/clients/types';
import { mail, unwrap } from '../../api/client.ts';
import { text } from '../../text/index.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { FilterBar, FilterToggle, SearchBox } from '../../ui/filters.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { useNumberedList } from '../../ui/use-list.ts';

const t = text.mails;
const PAGE_SIZE = 25;

export type MailRecord = MailSchemas['schemas']['MailRecord'];
const STATES = ['any', 'sent', 'failed', 'unknown', 'pending'] as const;
type State = (typeof STATES)[number];

const tones: Readonly<Record<string, Tone>> = {
  sent: 'good',
  failed: 'bad',
  unknown: 'notice',
  pending: 'busy',
};

export const MailState = ({ state }: Pick<MailRecord, 'state'>) => (
  <Badge tone={tones[state] ?? 'neutral'}>{t.states[state as State] ?? state}</Badge>
);

const columns: readonly DataColumn<MailRecord>[] = [
  {
    id: 'subject',
    label: t.columns.subject,
    render: ({ subject, emailTemplateType }) => (
      <span className="stack">
        <span className="strong">{subject}</span>
        <small>{emailTemplateType}</small>
      </span>
    ),
  },
  { id: 'to', label: t.columns.to, isSecondary: true, render: ({ to }) => to.join(', ') },
  { id: 'state', label: t.columns.state, render: (record) => <MailState {...record} /> },
  {
    id: 'reason',
    label: t.columns.reason,
    isSecondary: true,
    render: ({ failure }) => failure?.message ?? '',
  },
  {
    id: 'at',
    label: t.columns.at,
    isSecondary: true,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
];

export function Screen() {
  const { filters } = useFilters();
  const state = STATES.find((known) => known === filters['state']) ?? 'any';
  const recipient = (filters['recipient'] ?? '').trim();
  const { more, ...query } = useNumberedList({
    key: ['mails', state, recipient],
    refreshMs: 5_000,
    load: (page, signal) =>
      unwrap(
        mail.GET('/api/v1/mail/records', {
          params: { query: { page, limit: PAGE_SIZE, state, ...(recipient.length > 2 && { recipient }) } },
          signal,
        }),
      ),
  });
  const isFiltered = state !== 'any' || recipient !== '';
  return (
    <Page title={t.title} intro={t.intro}>
      <FilterBar>
        <SearchBox label={t.recipientFilter} name="recipient" />
        <FilterToggle
          label={t.columns.state}
          name="state"
          options={STATES.map((key) => [key, key === 'any' ? text.all : t.states[key]])}
        />
      </FilterBar>
      <QueryView query={query}>
        {(records) => (
          <DataTable
            label={t.title}
            columns={columns}
            items={records}
            more={more}
            getId={({ id }) => id}
            getHref={({ id }) => `/mails/${id}`}
            empty={
              isFiltered ? (
                <Empty title={t.noMatch}>{text.noMatchAdvice}</Empty>
              ) : (
                <Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>
              )
            }
          />
        )}
      </QueryView>
    </Page>
  );
}
