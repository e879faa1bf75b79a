import { text } from '#text/shared';
import { token as t } from '#text/token';
import { tokens } from '#text/tokens';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { DangerZone, Facts, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { ScopeWords } from '../../ui/scope-words.tsx';
import { Time } from '../../ui/time.tsx';
import type { TokenDetails } from './api.ts';
import { describeBounds } from './bounds.ts';
import { ToolCalls } from './tool-calls.tsx';

const EditToken = lazyPart(async () => (await import('./edit-token.tsx')).EditToken);
const RevokeToken = lazyPart(async () => (await import('./revoke-token.tsx')).RevokeToken);
const RotateToken = lazyPart(async () => (await import('./rotate-token.tsx')).RotateToken);

type Dialog = 'edit' | 'rotate' | 'revoke';

/** One token: what it may do, what it did, and how to replace or end it. */
export function Screen() {
  const { tokenId = '' }: { tokenId?: string } = useParams({ strict: false });
  const [dialog, setDialog] = useState<Dialog>();
  const query = useQuery({
    queryKey: ['tokens', 'one', tokenId],
    queryFn: ({ signal }) =>
      unwrap(
        identity.GET('/api/v1/personal-access-tokens/{tokenId}', { params: { path: { tokenId } }, signal }),
      ),
  });
  const token = query.data?.token;
  const close = (): void => setDialog(undefined);
  return (
    <DetailPage
      query={query}
      title={token?.name ?? t.title}
      intro={token?.description}
      actions={
        token?.state === 'active' && <Actions onOpen={setDialog} canRotate={token.replacedBy === null} />
      }
    >
      <QueryView query={query}>{({ token: found }) => <TokenFacts token={found} />}</QueryView>
      <Section title={t.calls.title}>
        <ToolCalls tokenId={tokenId} />
      </Section>
      {token?.state === 'active' && (
        <DangerZone
          acts={[{ label: tokens.revoke, hint: tokens.revokeWarning, run: () => setDialog('revoke') }]}
        />
      )}
      {token && dialog === 'edit' && <EditToken token={token} onClose={close} />}
      {token && dialog === 'rotate' && <RotateToken token={token} onClose={close} />}
      {token && dialog === 'revoke' && <RevokeToken token={token} onClose={close} />}
    </DetailPage>
  );
}

const Actions = ({ onOpen, canRotate }: { onOpen: (dialog: Dialog) => void; canRotate: boolean }) => (
  <>
    <Button onPress={() => onOpen('edit')}>{t.edit}</Button>
    {canRotate && <Button onPress={() => onOpen('rotate')}>{t.rotate}</Button>}
  </>
);

const tones = { active: 'good', expired: 'bad', revoked: 'neutral' } as const;

const TokenFacts = ({ token }: { token: TokenDetails }) => (
  <Facts
    of={[
      [
        tokens.columns.state,
        <Badge key="state" tone={tones[token.state]}>
          {t.states[token.state]}
        </Badge>,
      ],
      [tokens.columns.scopes, <ScopeWords key="scopes" scopes={token.scopes} isOwn />],
      [t.allowList, token.allowList.length > 0 ? token.allowList.join(', ') : t.anyAddress],
      [t.bounds, describeBounds(token.bounds) || t.noBounds],
      [t.notices, token.noticesMuted ? t.noticesMuted : t.noticesMailed],
      [t.created, <Time key="created" at={token.createdAt} as="day" />],
      [
        tokens.columns.expires,
        token.expiresAt === null ? text.never : <Time key="expires" at={token.expiresAt} as="full" />,
      ],
      [
        tokens.columns.lastUsed,
        token.lastUsedAt === null ? tokens.neverUsed : <Time key="used" at={token.lastUsedAt} />,
      ],
      [t.id, <CopyId key="id" value={token.id} label={t.id} />],
      ...linkFact(t.parent, token.parentId),
      ...linkFact(t.replacedBy, token.replacedBy),
      ...(token.revokedAt === null
        ? []
        : [[t.revokedAt, <Time key="revoked" at={token.revokedAt} as="full" />] as const]),
      ...(token.revokedReason === null ? [] : [[tokens.reason, token.revokedReason] as const]),
    ]}
  />
);

const linkFact = (name: string, id: string | null) =>
  id === null
    ? []
    : [
        [
          name,
          <Link key={name} to="/account/tokens/$tokenId" params={{ tokenId: id }}>
            {t.open}
          </Link>,
        ] as const,
      ];
