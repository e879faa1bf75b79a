import { apps as t } from '#text/apps';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { ConnectLink } from '../../ui/dialog-button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import type { ConnectedApp } from './api.ts';
import { clientColumn, createUseColumns, foldOwnApp } from './app-columns.tsx';
import { OwnSubscriptions } from './subscriptions.tsx';

const EndApp = lazyPart(async () => (await import('./end-app.tsx')).EndApp);

/** The applications that act for oneself. */
export function Screen() {
  const [ending, setEnding] = useState<ConnectedApp>();
  const query = useQuery({
    queryKey: ['apps', 'own'],
    queryFn: async ({ signal }) => (await unwrap(identity.GET('/api/v1/connected-apps', { signal }))).data,
  });
  return (
    <Page title={text.screens.apps} intro={t.intro}>
      <QueryView query={query}>
        {(found) => (
          <DataTable
            label={text.screens.apps}
            columns={[clientColumn, ...createUseColumns(setEnding, true)]}
            items={found}
            getId={({ id }) => id}
            getHref={({ id }) => `/account/apps/${id}`}
            folded={foldOwnApp}
            empty={
              <Empty title={t.emptyTitle} action={<ConnectLink />}>
                {t.emptyAdvice}
              </Empty>
            }
          />
        )}
      </QueryView>
      <OwnSubscriptions />
      {ending && <EndApp app={ending} onClose={() => setEnding(undefined)} />}
    </Page>
  );
}
