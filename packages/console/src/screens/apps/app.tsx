import { apps as t } from '#text/apps';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { DetailPage } from '../../ui/detail-page.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DangerZone } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { AgentFacts, AgentSections } from '../agents/agent-sections.tsx';
import { type Agent, agentQuery } from '../agents/api.ts';

const EndApp = lazyPart(async () => (await import('./end-app.tsx')).EndApp);

/** The host of the client is verified, its name is not always. */
const describeClient = ({ client }: Agent): string =>
  client === null ? '' : (client.host ?? t.kinds[client.kind as keyof typeof t.kinds] ?? client.kind);

/** One connected app: whom it acts for, what it may do, and what it did. */
export function Screen() {
  const { connectionId = '' }: { connectionId?: string } = useParams({ strict: false });
  const [isEnding, setEnding] = useState(false);
  const query = useQuery(agentQuery('connection', connectionId));
  const agent = query.data;
  const owner = agent?.isOwn === true ? {} : { owner: agent?.actsFor.name ?? '' };
  return (
    <DetailPage query={query} title={agent?.name ?? t.one}>
      <QueryView query={query}>
        {(found) => (
          <>
            <AgentFacts agent={found} more={[[t.columns.client, describeClient(found)]]} />
            <AgentSections agent={found} />
          </>
        )}
      </QueryView>
      {agent && agent.state !== 'revoked' && (
        <DangerZone acts={[{ label: t.end, hint: t.endWarning, run: () => setEnding(true) }]} />
      )}
      {agent && isEnding && (
        <EndApp
          app={{ id: agent.id, client: { name: agent.name } }}
          {...owner}
          onClose={() => setEnding(false)}
        />
      )}
    </DetailPage>
  );
}
