import { token as t } from '#text/token';
import { tokens } from '#text/tokens';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { DangerZone } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { AgentFacts, AgentSections } from '../agents/agent-sections.tsx';
import { agentQuery } from '../agents/api.ts';
import type { TokenDetails } from './api.ts';

const EditToken = lazyPart(async () => (await import('./edit-token.tsx')).EditToken);
const RevokeToken = lazyPart(async () => (await import('./revoke-token.tsx')).RevokeToken);
const RotateToken = lazyPart(async () => (await import('./rotate-token.tsx')).RotateToken);

type Dialog = 'edit' | 'rotate' | 'revoke';

/** One token: whom it acts for, what it may do, what it did, and how to replace or end it. */
export function Screen() {
  const { tokenId = '' }: { tokenId?: string } = useParams({ strict: false });
  const [dialog, setDialog] = useState<Dialog>();
  const query = useQuery(agentQuery('token', tokenId));
  const agent = query.data;
  // Of other members administrators see what every agent shows, and change nothing.
  const isManaged = agent !== undefined && (agent.isOwn || agent.actsFor.isServiceAccount);
  const details = useQuery({
    queryKey: ['tokens', 'one', tokenId],
    queryFn: ({ signal }) =>
      unwrap(
        identity.GET('/api/v1/personal-access-tokens/{tokenId}', { params: { path: { tokenId } }, signal }),
      ),
    enabled: isManaged,
  });
  const token = details.data?.token;
  const close = (): void => setDialog(undefined);
  const revoked = agent?.isOwn === true ? {} : { owner: agent?.actsFor.name ?? '' };
  return (
    <DetailPage
      query={query}
      title={agent?.name ?? t.title}
      intro={token?.description}
      actions={
        token?.state === 'active' && <Actions onOpen={setDialog} canRotate={token.replacedBy === null} />
      }
    >
      <QueryView query={query}>
        {(found) => (
          <>
            <AgentFacts agent={found} more={token ? toFacts(token) : []} />
            <AgentSections agent={found} />
          </>
        )}
      </QueryView>
      {agent?.state === 'active' && (
        <DangerZone
          acts={[{ label: tokens.revoke, hint: tokens.revokeWarning, run: () => setDialog('revoke') }]}
        />
      )}
      {token && dialog === 'edit' && <EditToken token={token} onClose={close} />}
      {token && dialog === 'rotate' && <RotateToken token={token} onClose={close} />}
      {agent && dialog === 'revoke' && <RevokeToken token={agent} {...revoked} onClose={close} />}
    </DetailPage>
  );
}

const Actions = ({ onOpen, canRotate }: { onOpen: (dialog: Dialog) => void; canRotate: boolean }) => (
  <>
    <Button onPress={() => onOpen('edit')}>{t.edit}</Button>
    {canRotate && <Button onPress={() => onOpen('rotate')}>{t.rotate}</Button>}
  </>
);

/** What the page of a token shows beside that of any agent. */
const toFacts = (token: TokenDetails) => [
  [t.allowList, token.allowList.length > 0 ? token.allowList.join(', ') : t.anyAddress] as const,
  [t.notices, token.noticesMuted ? t.noticesMuted : t.noticesMailed] as const,
  ...(token.revokedAt === null
    ? []
    : [[t.revokedAt, <Time key="revoked" at={token.revokedAt} as="full" />] as const]),
  ...(token.revokedReason === null ? [] : [[tokens.reason, token.revokedReason] as const]),
];
