import { knowledge as t } from '#text/knowledge';
import { LOCALE, text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMe } from '../../api/me.ts';
import { EmptyLink } from '../../ui/dialog-button.tsx';
import { Empty, Page, Section } from '../../ui/page.tsx';
import { Loading, QueryView } from '../../ui/query-view.tsx';
import { describeReaders, type Source, sourcesQuery, usableToolsQuery } from './api.ts';
import { Ask } from './ask.tsx';
import { SourceRows } from './source-rows.tsx';

const number = new Intl.NumberFormat(LOCALE);

/** What a source has, who can search it, and with what. */
function More(source: Source) {
  const { crawled, servers } = source;
  const documents = crawled?.documents ?? null;
  return (
    <>
      {crawled && (
        <p>
          {crawled.description}
          {documents !== null && ` · ${t.documents(number.format(documents), documents === 1)}`}
        </p>
      )}
      <p className="quiet-text">
        {servers.length === 0 ? t.noServer : t.searchedWith(servers)} · {describeReaders(source)}
      </p>
    </>
  );
}

/** What agents can search, and what they find for oneself; for everybody. */
export function Screen() {
  const query = useQuery(sourcesQuery);
  // The list below would move when the search came after it.
  const tools = useQuery(usableToolsQuery);
  const isAdmin = useMe().role === 'admin';
  return (
    <Page title={text.screens.knowledge} intro={t.intro}>
      <QueryView query={query}>
        {(found) =>
          tools.isPending ? (
            <Loading />
          ) : found.length === 0 ? (
            <NoSource />
          ) : (
            <>
              <Ask />
              <Section title={t.sources}>
                <SourceRows sources={found} more={More} />
                <p className="hint">{t.readers.hint}</p>
                {isAdmin && (
                  <p className="hint">
                    {t.asMember.link} <Link to="/organisation/members">{t.asMember.members}</Link>
                  </p>
                )}
              </Section>
            </>
          )
        }
      </QueryView>
    </Page>
  );
}

function NoSource() {
  const isAdmin = useMe().role === 'admin';
  return (
    <div className="table-frame">
      {isAdmin ? (
        <Empty title={t.emptyTitle} action={<EmptyLink to="/crawls" label={t.schedule} />}>
          {t.emptyForAdmins}
        </Empty>
      ) : (
        <Empty title={t.emptyTitle}>{t.emptyForMembers}</Empty>
      )}
    </div>
  );
}
