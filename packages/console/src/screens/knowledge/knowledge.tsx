import { knowledge as t } from '#text/knowledge';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { useMe } from '../../api/me.ts';
import { Tags } from '../../ui/badge.tsx';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { EmptyLink } from '../../ui/dialog-button.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { type Source, sourcesQuery } from './api.ts';
import { SourceAge } from './source-age.tsx';

const Servers = ({ servers }: Source) =>
  servers.length === 0 ? <span className="quiet-text">{t.noServer}</span> : <Tags values={servers} />;

const columns: readonly DataColumn<Source>[] = [
  {
    id: 'source',
    label: t.columns.source,
    render: (source) => (
      <span className="stack">
        <span className="strong">{getConnectorName(toConnectorKey(source))}</span>
        <small>{toConnectorKey(source)}</small>
      </span>
    ),
  },
  { id: 'age', label: t.columns.age, isFreeText: true, render: (source) => <SourceAge source={source} /> },
  { id: 'servers', label: t.columns.servers, isSecondary: true, render: Servers },
  {
    id: 'completed',
    label: t.columns.completed,
    isSecondary: true,
    render: ({ lastCompletedAt }) => (lastCompletedAt === null ? text.never : <Time at={lastCompletedAt} />),
  },
];

/** The sources of what agents can search, for everybody. */
export function Screen() {
  const isAdmin = useMe().role === 'admin';
  const query = useQuery(sourcesQuery);
  return (
    <Page title={text.screens.knowledge} intro={t.intro}>
      <QueryView query={query}>
        {(found) => (
          <DataTable
            label={text.screens.knowledge}
            columns={columns}
            items={found}
            getId={toConnectorKey}
            folded={Servers}
            {...(isAdmin && {
              getHref: (source: Source) => `/crawls/connectors/${toConnectorKey(source)}`,
            })}
            empty={
              isAdmin ? (
                <Empty title={t.emptyTitle} action={<EmptyLink to="/crawls" label={t.schedule} />}>
                  {t.emptyForAdmins}
                </Empty>
              ) : (
                <Empty title={t.emptyTitle}>{t.emptyForMembers}</Empty>
              )
            }
          />
        )}
      </QueryView>
    </Page>
  );
}
