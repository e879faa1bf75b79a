import { agents } from '#text/agents';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { ConnectLink } from '../../ui/dialog-button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListView } from '../../ui/list-page.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { type AgentCall, type AgentKind, toAgentKey } from './api.ts';
import { describeClient } from './describe-client.ts';
import { describeOutcome, describeRefusal } from './describe-refusal.ts';

const CallDetails = lazyPart(async () => (await import('./call-details.tsx')).CallDetails);

const t = agents.calls;
const PAGE_SIZE = 20;

const Outcome = ({ call: { outcome, reason, lacks } }: { call: AgentCall }) => (
  <span className="stack">
    <span>
      <Badge tone={outcome === 'completed' ? 'good' : 'notice'}>{describeOutcome(outcome)}</Badge>
    </span>
    {reason !== null && <small>{describeRefusal(reason, lacks)}</small>}
  </span>
);

const columns: readonly DataColumn<AgentCall>[] = [
  {
    id: 'tool',
    label: t.columns.tool,
    render: ({ tool }) => <code>{tool}</code>,
  },
  { id: 'outcome', label: t.columns.outcome, render: (call) => <Outcome call={call} /> },
  {
    id: 'client',
    label: t.columns.client,
    isFreeText: true,
    isSecondary: true,
    render: ({ client, address }) => (
      <span className="stack">
        <span>{describeClient(client) ?? t.unknown}</span>
        {address !== null && <small>{address}</small>}
      </span>
    ),
  },
  { id: 'at', label: t.columns.at, isSecondary: true, render: ({ createdAt }) => <Time at={createdAt} /> },
];

const foldCall = ({ createdAt }: AgentCall) => <Time at={createdAt} />;

/** What an agent called, and what was refused to it, newest first. */
export function AgentCalls({ kind, id }: { kind: AgentKind; id: string }) {
  const [open, setOpen] = useState<AgentCall>();
  const list = useList({
    key: [...toAgentKey(kind, id), 'calls'],
    async load(cursor, signal) {
      const params = { path: { kind, id }, query: toPageQuery(cursor, PAGE_SIZE) };
      return toListPage(await unwrap(identity.GET('/api/v1/agents/{kind}/{id}/calls', { params, signal })));
    },
    refresh: { everyMs: 10_000, getId: ({ id: callId }) => callId },
  });
  return (
    <Section title={t.title}>
      <ListView
        label={t.title}
        list={list}
        columns={columns}
        getId={({ id: callId }) => callId}
        folded={foldCall}
        onOpen={setOpen}
        empty={
          <Empty title={t.emptyTitle} action={<ConnectLink />}>
            {t.emptyAdvice}
          </Empty>
        }
      />
      {open && <CallDetails call={open} of={kind} onClose={() => setOpen(undefined)} />}
    </Section>
  );
}
