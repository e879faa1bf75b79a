import { text } from '../../text/index.ts';
import type { DataColumn } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import type { Schedule } from './api.ts';
import { ScheduleState } from './states.tsx';

const t = text.queue.columns;

export const queueColumns: readonly DataColumn<Schedule>[] = [
  {
    id: 'connector',
    label: t.connector,
    render: ({ data }) => <span className="strong">{data.connector}</span>,
  },
  { id: 'state', label: t.state, render: (schedule) => <ScheduleState schedule={schedule} /> },
  {
    id: 'since',
    label: t.since,
    render: ({ overdueSince, processedOn, timestamp }) => (
      <Time at={overdueSince ?? processedOn ?? timestamp} />
    ),
  },
  { id: 'attempts', label: t.attempts, isSecondary: true, render: ({ attemptsMade }) => attemptsMade },
  { id: 'reason', label: t.reason, isSecondary: true, render: ({ failedReason }) => failedReason ?? '' },
];
