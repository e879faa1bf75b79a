import { apps as t } from '#text/apps';
import type { IdentitySchemas } from '@platform/clients/types';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useNumberedList } from '../../ui/use-list.ts';
import { clientColumn, createUseColumns } from './app-columns.tsx';

const EndApp = lazyPart(async () => (await import('./end-app.tsx')).EndApp);

const PAGE_SIZE = 50;

type OwnedApp = IdentitySchemas['schemas']['OwnedConnectedApp'];

const ownerColumn: DataColumn<OwnedApp> = {
  id: 'owner',
  label: t.columns.owner,
  render: ({ owner }) => (
    <span className="stack">
      {owner.fullName}
      <small>{owner.email}</small>
    </span>
  ),
};

/** The applications that act for anybody in the organisation. */
export function Screen() {
  const [ending, setEnding] = useState<OwnedApp>();
  const { more, ...query } = useNumberedList({
    key: ['apps', 'all'],
    load: (page, signal) =>
      unwrap(
        identity.GET('/api/v1/connected-apps/admin', {
          params: { query: { page, limit: PAGE_SIZE } },
          signal,
        }),
      ),
  });
  return (
    <Page title={t.title} intro={t.allIntro}>
      <QueryView query={query}>
        {(found) => (
          <DataTable
            label={t.title}
            columns={[clientColumn, ownerColumn, ...createUseColumns<OwnedApp>(setEnding)]}
            items={found}
            more={more}
            getId={({ id }) => id}
            empty={<Empty title={t.allEmptyTitle} />}
          />
        )}
      </QueryView>
      {ending && <EndApp app={ending} owner={ending.owner.fullName} onClose={() => setEnding(undefined)} />}
    </Page>
  );
}
