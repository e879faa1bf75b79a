import { serviceAccounts } from '#text/service-accounts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { createTokenColumns, foldToken } from '../tokens/token-columns.tsx';
import type { TokenDetails } from '../tokens/api.ts';
import type { ServiceAccount } from './api.ts';

const CreateAccountToken = lazyPart(async () => (await import('./change-tokens.tsx')).CreateAccountToken);
const EditToken = lazyPart(async () => (await import('../tokens/edit-token.tsx')).EditToken);
const RevokeToken = lazyPart(async () => (await import('../tokens/revoke-token.tsx')).RevokeToken);
const RotateToken = lazyPart(async () => (await import('../tokens/rotate-token.tsx')).RotateToken);

const t = serviceAccounts.tokens;

type Dialog = 'create' | { readonly action: 'edit' | 'rotate' | 'revoke'; readonly token: TokenDetails };

/** The tokens that act as a service account. */
export function AccountTokens({ account }: { account: ServiceAccount }) {
  const { id: accountId } = account;
  const [dialog, setDialog] = useState<Dialog>();
  const close = (): void => setDialog(undefined);
  const query = useQuery({
    queryKey: ['tokens', 'of-account', accountId],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          identity.GET('/api/v1/personal-access-tokens/admin', {
            params: { query: { owner: accountId, limit: 100 } },
            signal,
          }),
        )
      ).data,
  });
  return (
    <Section title={t.title} actions={<Button onPress={() => setDialog('create')}>{t.create}</Button>}>
      <QueryView query={query}>
        {(tokens) => (
          <DataTable
            label={t.title}
            columns={createTokenColumns<TokenDetails>((token) => setDialog({ action: 'revoke', token }), {
              onEdit: (token) => setDialog({ action: 'edit', token }),
              onRotate: (token) => setDialog({ action: 'rotate', token }),
            })}
            items={tokens}
            getId={({ id }) => id}
            folded={(token: TokenDetails) => foldToken(token)}
            empty={
              <Empty
                title={t.emptyTitle}
                action={<Button onPress={() => setDialog('create')}>{t.createFirst}</Button>}
              >
                {t.emptyAdvice}
              </Empty>
            }
          />
        )}
      </QueryView>
      {dialog === 'create' && <CreateAccountToken account={account} onClose={close} />}
      {typeof dialog === 'object' && dialog.action === 'edit' && (
        <EditToken token={dialog.token} onClose={close} />
      )}
      {typeof dialog === 'object' && dialog.action === 'rotate' && (
        <RotateToken token={dialog.token} onClose={close} />
      )}
      {typeof dialog === 'object' && dialog.action === 'revoke' && (
        <RevokeToken token={dialog.token} owner={account.name} onClose={close} />
      )}
    </Section>
  );
}
