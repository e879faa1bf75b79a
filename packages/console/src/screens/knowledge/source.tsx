import { knowledge as t } from '#text/knowledge';
import { LOCALE } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMe } from '../../api/me.ts';
import { Badge } from '../../ui/badge.tsx';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';
import { NotFoundPage } from '../../ui/detail-page.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { describeReaders, type Source, sourcesQuery, stateTones } from './api.ts';
import { Ask } from './ask.tsx';

const number = new Intl.NumberFormat(LOCALE);

/** One source, to which the answers of tools lead: what it is, how old, who can search it, and what oneself finds in it. */
export function Screen() {
  const { source: key = '' }: { source?: string } = useParams({ strict: false });
  const { run }: { run?: string } = useSearch({ strict: false });
  const isAdmin = useMe().role === 'admin';
  const query = useQuery(sourcesQuery);
  const source = query.data?.find((one) => toConnectorKey(one) === key);
  if (query.data && !source) return <NotFoundPage />;
  return (
    <Page
      title={source ? getConnectorName(key) : t.one}
      intro={source?.text}
      actions={
        isAdmin && (
          <>
            {run !== undefined && (
              <Link to={`/crawls/connectors/${key}/runs/${run}`} className="button plain">
                {t.run}
              </Link>
            )}
            <Link to={`/crawls/connectors/${key}`} className="button plain">
              {t.crawls}
            </Link>
          </>
        )
      }
    >
      <QueryView query={query}>{() => source && <SourceFacts source={source} />}</QueryView>
      {source && <Ask connector={source.connector} />}
    </Page>
  );
}

const toTime = (at: string | null | undefined): ReactNode => at && <Time key={at} at={at} />;

function SourceFacts({ source }: { source: Source }) {
  const { crawled, servers, lastCompletedAt, lastFullAt, nextRunAt } = source;
  const { documents } = crawled ?? {};
  const known: readonly (readonly [name: string, value: ReactNode])[] = [
    [t.facts.crawled, crawled?.description ?? t.facts.unsaid],
    [t.facts.documents, documents !== undefined && documents !== null && number.format(documents)],
    [t.facts.newest, toTime(crawled?.newestAt)],
    [t.facts.oldest, crawled?.oldestAt && <Time key="oldest" at={crawled.oldestAt} as="day" />],
    [t.facts.completed, toTime(lastCompletedAt)],
    [t.facts.full, toTime(lastFullAt)],
    [t.facts.next, toTime(nextRunAt)],
    [t.facts.servers, servers.length === 0 ? t.noServer : servers.join(', ')],
    [t.facts.readers, describeReaders(source)],
  ];
  return (
    <Section
      title={t.about}
      actions={<Badge tone={stateTones[source.state]}>{t.states[source.state]}</Badge>}
    >
      <Facts of={known.filter(([, value]) => Boolean(value))} />
      <p className="hint">{t.readers.hint}</p>
    </Section>
  );
}
