import { activity as t } from '#text/activity';
import { audit } from '#text/audit';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Copyable, CopyId } from '../../ui/copy.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { Facts } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { describeCredential } from '../audit/audit-columns.tsx';
import { listChanges } from '../audit/describe-entry.ts';
import { nameOf } from '../audit/names.ts';
import { useInstanceNames } from '../crawls/api.ts';
import type { NamedFact } from './api.ts';
import { describeFact, findPlace, readEntry } from './describe-fact.ts';

/** One thing that happened, with all that is known of it. */
export function Screen() {
  const { entryId: id = '' }: { entryId?: string } = useParams({ strict: false });
  const nameInstance = useInstanceNames();
  const query = useQuery({
    queryKey: ['activity', 'one', id],
    queryFn: ({ signal }) =>
      unwrap(identity.GET('/api/v1/activity/{id}', { params: { path: { id } }, signal })),
    // It does not change any more.
    staleTime: Infinity,
  });
  const place = query.data && findPlace(query.data);
  return (
    <DetailPage
      query={query}
      title={query.data ? describeFact(query.data, nameInstance) : t.entry}
      actions={
        place !== undefined && (
          <Link to={place} className="button plain">
            {t.open}
          </Link>
        )
      }
    >
      <QueryView query={query}>
        {(item) => (
          <>
            <Facts of={[...listFacts(item), [t.id, <CopyId key="id" value={item.fact.id} label={t.id} />]]} />
            <details>
              <summary>{t.raw}</summary>
              <Copyable label={t.raw} value={JSON.stringify(item.fact, undefined, 2)} />
            </details>
          </>
        )}
      </QueryView>
    </DetailPage>
  );
}

type Row = readonly [name: string, value: ReactNode];

const present = (label: string, value: string | null): Row[] =>
  value === null || value === '' ? [] : [[label, value]];
const copied = (label: string, value: string | null): Row[] =>
  value === null ? [] : [[label, <CopyId key={label} value={value} label={label} />]];

function listFacts({ fact, names }: NamedFact): Row[] {
  const when: Row = [audit.columns.when, <Time key="when" at={fact.time} as="exact" />];
  const entry = readEntry(fact);
  if (!entry) return [when, ...listChanges({ changes: {}, detail: fact.data })];
  const { actorId, subjectId, credential, address, userAgent, requestId, reason } = entry;
  const actor =
    actorId === null ? (
      t.platform
    ) : (
      <Link key="actor" to="/activity/audit" search={{ actor: actorId }}>
        {nameOf(actorId, names)}
      </Link>
    );
  const target = subjectId !== null && (
    <Link key="target" to="/activity/audit" search={{ subject: subjectId }}>
      {nameOf(subjectId, names)}
    </Link>
  );
  return [
    when,
    [audit.columns.actor, actor],
    ...(credential ? present(audit.credential, describeCredential(credential, names)) : []),
    ...present(audit.address, address),
    ...present(audit.userAgent, userAgent),
    ...copied(t.requestId, requestId),
    ...(target ? [[audit.target, target] as const] : []),
    ...copied(audit.targetId, subjectId),
    ...listChanges(entry),
    ...present(audit.reason, reason),
  ];
}
