import { mails as t } from '#text/mails';
import { text } from '#text/shared';
import { templates } from '#text/templates';
import { useState } from 'react';
import { mail, unwrap } from '../../api/client.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { FilterToggle, SearchBox } from '../../ui/filters.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { EmptyLink } from '../../ui/dialog-button.tsx';
import { Empty } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import type { MailRecord } from './api.ts';

const ResendMails = lazyPart(async () => (await import('./resend-mails.tsx')).ResendMails);

const PAGE_SIZE = 50;

const STATES = ['any', 'sent', 'failed', 'unknown', 'queued', 'sending'] as const;
type State = (typeof STATES)[number];

const tones: Readonly<Record<string, Tone>> = {
  sent: 'good',
  failed: 'bad',
  unknown: 'notice',
  queued: 'neutral',
  sending: 'busy',
};

export const MailState = ({ state }: Pick<MailRecord, 'state'>) => (
  <Badge tone={tones[state] ?? 'neutral'}>{t.states[state as State] ?? state}</Badge>
);

/** The name of a template, including templates that only the platform itself sends. */
export const nameTemplate = (type: string): string =>
  templates.types[type as keyof typeof templates.types] ?? type;

const columns: readonly DataColumn<MailRecord>[] = [
  {
    id: 'subject',
    label: t.columns.subject,
    render: ({ subject, emailTemplateType }) => (
      <span className="stack">
        <span className="strong">{subject}</span>
        <small>{nameTemplate(emailTemplateType)}</small>
      </span>
    ),
  },
  { id: 'to', label: t.columns.to, isFreeText: true, isSecondary: true, render: ({ to }) => to.join(', ') },
  {
    id: 'state',
    isFreeText: true,
    label: t.columns.state,
    render: ({ state, failure }) => (
      <span className="stack">
        <MailState state={state} />
        {failure && <small>{failure.message}</small>}
      </span>
    ),
  },
  {
    id: 'at',
    label: t.columns.at,
    isSecondary: true,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
];

const bulkActions = (run: (mails: readonly MailRecord[]) => void) => [
  { label: t.resend, applies: ({ canResend }: MailRecord) => canResend, run },
];

const foldMail = ({ to, createdAt }: MailRecord) => (
  <>
    <span>{to.join(', ')}</span>
    <Time at={createdAt} />
  </>
);

export function Screen() {
  const { filters } = useFilters();
  const state = STATES.find((known) => known === filters['state']) ?? 'any';
  const q = filters['q']?.trim() ?? '';
  const [bulk, setBulk] = useState<readonly MailRecord[]>();
  const list = useList({
    key: ['mails', state, q],
    async load(cursor, signal) {
      const query = {
        ...toPageQuery(cursor, PAGE_SIZE),
        state,
        ...(q && { q }),
      };
      return toListPage(await unwrap(mail.GET('/api/v1/mail/records', { params: { query }, signal })));
    },
    refresh: { everyMs: 5_000, getId: ({ id }) => id },
  });
  const isFiltered = state !== 'any' || q !== '';
  return (
    <ListPage
      title={text.screens.mails}
      intro={t.intro}
      filters={
        <>
          <SearchBox label={t.filter} />
          <FilterToggle
            label={t.columns.state}
            name="state"
            options={STATES.map((key) => [key, key === 'any' ? text.all : t.states[key]])}
          />
        </>
      }
      list={list}
      columns={columns}
      getId={({ id }) => id}
      folded={foldMail}
      bulk={bulkActions(setBulk)}
      getHref={({ id }) => `/mails/${id}`}
      empty={
        isFiltered ? (
          <NoMatch title={t.noMatch} />
        ) : (
          <Empty title={t.emptyTitle} action={<EmptyLink to="/organisation/members" label={t.inviteFirst} />}>
            {t.emptyAdvice}
          </Empty>
        )
      }
    >
      {bulk && <ResendMails mails={bulk} onClose={() => setBulk(undefined)} />}
    </ListPage>
  );
}
