import { account } from '#text/account';
import { Badge } from '../../ui/badge.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import type { Session } from './api.ts';

const t = account.sessions;

export const sessionColumns: readonly DataColumn<Session>[] = [
  {
    id: 'client',
    label: t.columns.client,
    render: ({ client, current }) => (
      <span className="stack">
        <span className="strong">{client}</span>
        {current && <Badge tone="good">{t.current}</Badge>}
      </span>
    ),
  },
  { id: 'address', label: t.columns.address, render: ({ address }) => address ?? t.unknownAddress },
  {
    id: 'opened',
    label: t.columns.opened,
    isSecondary: true,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    id: 'ends',
    label: t.columns.ends,
    isSecondary: true,
    render: ({ expiresAt }) => <Time at={expiresAt} />,
  },
];
