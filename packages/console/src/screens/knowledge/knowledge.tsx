import { knowledge as t } from '#text/knowledge';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { useMe } from '../../api/me.ts';
import { EmptyLink } from '../../ui/dialog-button.tsx';
import { Empty, Page, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { type Source, sourcesQuery } from './api.ts';
import { SourceRows } from './source-rows.tsx';

const Servers = ({ servers }: Source) => <p>{servers.length === 0 ? t.noServer : t.searchedWith(servers)}</p>;

/** The sources of what agents can search, for everybody. */
export function Screen() {
  const query = useQuery(sourcesQuery);
  return (
    <Page title={text.screens.knowledge} intro={t.intro}>
      <QueryView query={query}>
        {(found) =>
          found.length === 0 ? (
            <NoSource />
          ) : (
            <Section title={t.sources}>
              <SourceRows sources={found} more={Servers} />
            </Section>
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
