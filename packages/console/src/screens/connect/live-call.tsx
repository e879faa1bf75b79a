import { connect } from '#text/connect';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { CheckIcon } from '../../ui/icons.tsx';
import { Time } from '../../ui/time.tsx';
import { type AgentCall, getAgentPath } from '../agents/api.ts';
import { describeClient } from '../agents/describe-client.ts';
import { describeRefusal } from '../agents/describe-refusal.ts';

const t = connect.live;
const REFRESH_MS = 2_000;

function describeCall({ client, tool, outcome, reason, lacks }: AgentCall): string {
  const name = describeClient(client) ?? t.unnamed;
  if (reason !== null) return t.refused(name, tool, describeRefusal(reason, lacks));
  return outcome === 'completed' ? t.called(name, tool) : t.failed(name, tool);
}

/** Waits for a call of one's agents, and shows it as soon as it is there. */
export function LiveCall() {
  const { data } = useQuery({
    queryKey: ['agents', 'calls', 'newest'],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/agents/calls', { params: { query: { limit: 1 } }, signal }))).data,
    refetchInterval: REFRESH_MS,
    // What was cached before is not news.
    gcTime: 0,
  });
  /** What had been called before the screen was opened; undefined until that is known. */
  const [before, setBefore] = useState<{ readonly id: string | undefined }>();
  const newest = data?.[0];
  if (data && !before) setBefore({ id: newest?.id });
  const isNew = newest !== undefined && before !== undefined && newest.id !== before.id;
  const isGood = isNew && newest.outcome === 'completed';
  return (
    <div className="live" data-state={isGood ? 'good' : isNew ? 'notice' : 'waiting'}>
      <span className="sign" aria-hidden="true">
        {isGood && <CheckIcon />}
      </span>
      <div>
        <p role="status">{isNew ? describeCall(newest) : newest ? t.waitingAgain : t.waiting}</p>
        {newest && (
          <p className="quiet-text">
            {!isNew && `${t.last(describeClient(newest.client) ?? t.unnamed, newest.tool)} `}
            <Time at={newest.createdAt} />
          </p>
        )}
      </div>
      {isNew && (
        <Link
          to={
            newest.credential.kind === 'pat' ? getAgentPath('token', newest.credential.id) : '/account/apps'
          }
          className="button plain"
        >
          {t.open}
        </Link>
      )}
    </div>
  );
}
