import { apps as t } from '#text/apps';
import type { DataColumn } from '../../ui/data-table.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { ScopeLine } from '../../ui/scope-words.tsx';
import { Time } from '../../ui/time.tsx';
import { describeBounds } from '../tokens/bounds.ts';
import type { ConnectedApp } from './api.ts';

/** The host of the client is verified, its name is not always. */
const describeClient = ({ host, kind }: ConnectedApp['client']): string =>
  host ?? t.kinds[kind as keyof typeof t.kinds] ?? kind;

function LastUse({ lastUsedAt, lastAddress }: ConnectedApp) {
  if (lastUsedAt === null) return t.neverUsed;
  return (
    <span className="stack">
      <Time at={lastUsedAt} />
      {lastAddress !== null && <small>{t.from(lastAddress)}</small>}
    </span>
  );
}

export const clientColumn: DataColumn<ConnectedApp> = {
  id: 'client',
  label: t.columns.client,
  render: ({ client }) => (
    <span className="stack">
      <span className="strong">{client.name}</span>
      <small>{describeClient(client)}</small>
    </span>
  ),
};

/** The details of an application that a phone shows below its name. */
export const foldApp = (app: ConnectedApp, isOwn = false) => (
  <>
    <ScopeLine scopes={app.scopes} isOwn={isOwn} />
    {app.bounds && <small>{describeBounds(app.bounds)}</small>}
    <LastUse {...app} />
  </>
);
export const foldOwnApp = (app: ConnectedApp) => foldApp(app, true);

/** @param isOwn - whether the applications act for the person who looks at them. */
export const createUseColumns = <Item extends ConnectedApp>(
  onEnd: (app: Item) => void,
  isOwn = false,
): readonly DataColumn<Item>[] => [
  {
    id: 'may',
    label: t.columns.may,
    isFreeText: true,
    isSecondary: true,
    render: ({ scopes, bounds }) => (
      <span className="stack">
        <ScopeLine scopes={scopes} isOwn={isOwn} />
        {bounds && <small>{describeBounds(bounds)}</small>}
      </span>
    ),
  },
  { id: 'lastUsed', label: t.columns.lastUsed, isSecondary: true, render: (app) => <LastUse {...app} /> },
  {
    id: 'until',
    label: t.columns.until,
    isSecondary: true,
    render: ({ expiresAt }) => <Time at={expiresAt} as="day" />,
  },
  createMenuColumn({
    getName: ({ client }) => client.name,
    listActions: (app) => [{ label: t.end, isDangerous: true, run: () => onEnd(app) }],
  }),
];
