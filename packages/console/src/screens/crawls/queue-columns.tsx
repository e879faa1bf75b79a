import { crawls } from '#text/crawls';
import { queue } from '#text/queue';
import { Badge } from '../../ui/badge.tsx';
import { ConnectorName } from '../../ui/connector.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { Age } from '../../ui/time.tsx';
import type { Queue } from './api.ts';
import { stateTones } from './states.tsx';

const t = queue.columns;

export const queueColumns: readonly DataColumn<Queue['connectors'][number]>[] = [
  {
    id: 'connector',
    label: t.connector,
    render: ({ connector, instance, displayName }) => (
      <ConnectorName connector={connector} instance={instance} displayName={displayName} />
    ),
  },
  {
    id: 'state',
    label: t.state,
    isFreeText: true,
    render: ({ state, reason }) => (
      <span className="stack">
        <Badge tone={stateTones[state]}>{crawls.states[state]}</Badge>
        {reason !== null && <small>{reason}</small>}
      </span>
    ),
  },
  {
    id: 'waiting',
    label: t.waiting,
    render: ({ waitingSince }) => waitingSince !== null && <Age since={waitingSince} />,
  },
  {
    id: 'completed',
    label: t.completed,
    isSecondary: true,
    render: ({ completed }) => <span className="number">{completed}</span>,
  },
  {
    id: 'failed',
    label: t.failed,
    isSecondary: true,
    render: ({ failed }) => <span className="number">{failed}</span>,
  },
];
