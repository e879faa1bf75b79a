import { apps as t } from '#text/apps';
import { text } from '#text/shared';
import { useMemo, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import type { DataColumn } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { EmptyLink } from '../../ui/dialog-button.tsx';
import { Empty } from '../../ui/page.tsx';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import type { OwnedApp } from './api.ts';
import { clientColumn, createUseColumns, foldApp } from './app-columns.tsx';
import { AllSubscriptions } from './subscriptions.tsx';

const EndApp = lazyPart(async () => (await import('./end-app.tsx')).EndApp);

const ownerColumn: DataColumn<OwnedApp> = {
  id: 'owner',
  isFreeText: true,
  isSecondary: true,
  label: t.columns.owner,
  render: ({ owner }) => (
    <span className="stack">
      <span>{owner.fullName}</span>
      <small>{owner.email}</small>
    </span>
  ),
};

const foldOwned = (app: OwnedApp) => (
  <>
    <span>{app.owner.fullName}</span>
    {foldApp(app)}
  </>
);

const createColumns = (onEnd: (app: OwnedApp) => void): readonly DataColumn<OwnedApp>[] => [
  clientColumn,
  ownerColumn,
  // The owner takes the room of the end.
  ...createUseColumns<OwnedApp>(onEnd).map((column) => ({ ...column, isWide: column.id === 'until' })),
];

/** The applications that act for anybody in the organisation. */
export function Screen() {
  const [ending, setEnding] = useState<OwnedApp>();
  const columns = useMemo(() => createColumns(setEnding), []);
  const list = useList({
    key: ['apps', 'all'],
    load: async (cursor, signal) =>
      toListPage(
        await unwrap(
          identity.GET('/api/v1/connected-apps/admin', { params: { query: toPageQuery(cursor) }, signal }),
        ),
      ),
  });
  return (
    <ListPage
      title={text.screens.allApps}
      intro={t.allIntro}
      list={list}
      columns={columns}
      getId={({ id }) => id}
      getHref={({ id }) => `/organisation/apps/${id}`}
      folded={foldOwned}
      empty={
        <Empty
          title={t.allEmptyTitle}
          action={<EmptyLink to="/organisation/applications" label={t.register} />}
        >
          {t.allEmptyAdvice}
        </Empty>
      }
    >
      <AllSubscriptions />
      {ending && <EndApp app={ending} owner={ending.owner.fullName} onClose={() => setEnding(undefined)} />}
    </ListPage>
  );
}
