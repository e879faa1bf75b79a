import { serviceAccounts } from '#text/service-accounts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { createTokenColumns } from '../tokens/token-columns.tsx';
import type { AccountToken, ServiceAccount } from './api.ts';

const CreateAccountToken = lazyPart(async () => (await import('./change-tokens.tsx')).CreateAccountToken);
const RevokeAccountToken = lazyPart(async () => (await import('./change-tokens.tsx')).RevokeAccountToken);
const EditAccountToken = lazyPart(async () => (await import('./edit-account-token.tsx')).EditAccountToken);
const RotateToken = lazyPart(async () => (await import('../tokens/rotate-token.tsx')).RotateToken);

const t = serviceAccounts.tokens;

type Dialog = 'create' | { readonly action: 'edit' | 'rotate' | 'revoke'; readonly token: AccountToken };

/** The tokens that act as a service account. */
export function AccountTokens({ account }: { account: ServiceAccount }) {
  const { id: accountId } = account;
  const [dialog, setDialog] = useState<Dialog>();
  const close = (): void => setDialog(undefined);
  const query = useQuery({
    queryKey: ['service-accounts', 'tokens', accountId],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          identity.GET('/api/v1/service-accounts/{accountId}/tokens', {
            params: { path: { accountId } },
            signal,
          }),
        )
      ).tokens,
  });
  return (
    <Section title={t.title} actions={<Button onPress={() => setDialog('create')}>{t.create}</Button>}>
      <QueryView query={query}>
        {(tokens) => (
          <DataTable
            label={t.title}
            columns={createTokenColumns<AccountToken>((token) => setDialog({ action: 'revoke', token }), {
              onEdit: (token) => setDialog({ action: 'edit', token }),
              onRotate: (token) => setDialog({ action: 'rotate', token }),
            })}
            items={tokens}
            getId={({ id }) => id}
            empty={<Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>}
          />
        )}
      </QueryView>
      {dialog === 'create' && <CreateAccountToken account={account} onClose={close} />}
      {typeof dialog === 'object' && dialog.action === 'edit' && (
        <EditAccountToken accountId={accountId} token={dialog.token} onClose={close} />
      )}
      {typeof dialog === 'object' && dialog.action === 'rotate' && (
        <RotateToken accountId={accountId} token={dialog.token} onClose={close} />
      )}
      {typeof dialog === 'object' && dialog.action === 'revoke' && (
        <RevokeAccountToken accountId={accountId} token={dialog.token} onClose={close} />
      )}
    </Section>
  );
}
