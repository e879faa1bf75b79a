import { activity as t } from '#text/activity';
import { text } from '#text/shared';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { DataColumn } from '../../ui/data-table.tsx';
import { FilterToggle } from '../../ui/filters.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { Empty } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { useList } from '../../ui/use-list.ts';
import { describeCredential } from '../audit/audit-columns.tsx';
import { describeChanges } from '../audit/describe-entry.ts';
import { useInstanceNames } from '../crawls/api.ts';
import { areaOptions, isArea, loadActivity, type NamedFact } from './api.ts';
import { describeFact, readEntry } from './describe-fact.ts';

const PAGE_SIZE = 50;
const REFRESH_MS = 5_000;

/** What a line adds to the sentence: with which credential, what changed, and why. */
function describeMore({ fact, names }: NamedFact): string {
  const entry = readEntry(fact);
  if (!entry) {
    const { reason } = fact.data;
    return typeof reason === 'string' ? reason : '';
  }
  const { credential, subjectId, changes, reason } = entry;
  const isUsual = credential === null || credential.kind === 'session' || credential.id === subjectId;
  // What is new had no values before: the sentence says it.
  const isNew = Object.values(changes).every(({ from }) => from === null);
  return [
    ...(isUsual ? [] : [describeCredential(credential, names)]),
    describeChanges({ changes: isNew ? {} : changes, detail: {}, reason }),
  ]
    .filter(Boolean)
    .join(' · ');
}

const createColumns = (nameInstance: (key: string) => string): readonly DataColumn<NamedFact>[] => [
  {
    id: 'what',
    label: t.columns.what,
    render: (item) => (
      <span className="sentence">
        <span className="strong">{describeFact(item, nameInstance)}</span>
        <small>{describeMore(item)}</small>
      </span>
    ),
  },
  {
    id: 'when',
    label: t.columns.when,
    isSecondary: true,
    isNarrow: true,
    render: ({ fact }) => <Time at={fact.time} />,
  },
];

const foldTime = ({ fact }: NamedFact) => <Time at={fact.time} />;

/** Everything that happens in the organisation, as sentences, newest first and live. */
export function Screen() {
  const { filters } = useFilters();
  const about = isArea(filters['about']) ? filters['about'] : undefined;
  const nameInstance = useInstanceNames();
  const columns = useMemo(() => createColumns(nameInstance), [nameInstance]);
  const list = useList({
    key: ['activity', about],
    load: (after, signal) =>
      loadActivity({ limit: PAGE_SIZE, ...(after && { after }), ...(about && { about }) }, signal),
    refresh: { everyMs: REFRESH_MS, getId: ({ fact }) => fact.id },
  });
  return (
    <ListPage
      title={text.screens.activity}
      intro={t.intro}
      actions={
        <Link to="/activity/audit" className="button plain">
          {t.older}
        </Link>
      }
      filters={<FilterToggle label={t.about} name="about" options={[['', text.all], ...areaOptions]} />}
      list={list}
      columns={columns}
      getId={({ fact }) => fact.id}
      getHref={({ fact }) => `/activity/${fact.id}`}
      folded={foldTime}
      empty={
        about === undefined ? (
          <Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>
        ) : (
          <NoMatch title={t.noMatch} />
        )
      }
    />
  );
}
