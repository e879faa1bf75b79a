import { serviceAccounts as t } from '#text/service-accounts';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { DangerZone, Facts } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { AgentSections } from '../agents/agent-sections.tsx';
import { agentQuery } from '../agents/api.ts';
import { AccountTokens } from './account-tokens.tsx';
import type { ServiceAccount } from './api.ts';

const EditAccount = lazyPart(async () => (await import('./change-account.tsx')).EditAccount);
const RemoveAccount = lazyPart(async () => (await import('./change-account.tsx')).RemoveAccount);

/** One service account: who it is, and the tokens that act as it. */
export function Screen() {
  const { accountId = '' }: { accountId?: string } = useParams({ strict: false });
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'edit' | 'remove'>();
  const close = (): void => setDialog(undefined);
  const query = useQuery({
    queryKey: ['service-accounts', 'one', accountId],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          identity.GET('/api/v1/service-accounts/{accountId}', { params: { path: { accountId } }, signal }),
        )
      ).serviceAccount,
  });
  const agent = useQuery(agentQuery('service_account', accountId));
  const account = query.data;
  return (
    <DetailPage
      query={query}
      title={account?.name ?? t.one}
      actions={account?.clientId === null && <Button onPress={() => setDialog('edit')}>{t.edit}</Button>}
    >
      <QueryView query={query}>
        {(found) => (
          <>
            <AccountFacts account={found} />
            <AccountTokens account={found} />
            <QueryView query={agent}>{(one) => <AgentSections agent={one} />}</QueryView>
          </>
        )}
      </QueryView>
      {account?.clientId === null && (
        <DangerZone acts={[{ label: t.remove, hint: t.removeWarning, run: () => setDialog('remove') }]} />
      )}
      {account && dialog === 'edit' && <EditAccount account={account} onClose={close} />}
      {account && dialog === 'remove' && (
        <RemoveAccount
          account={account}
          onRemoved={() => void navigate({ to: '/organisation/service-accounts', ignoreBlocker: true })}
          onClose={close}
        />
      )}
    </DetailPage>
  );
}

const AccountFacts = ({ account: { id, role, clientId, createdAt } }: { account: ServiceAccount }) => (
  <Facts
    of={[
      [t.role, text.roles[role as keyof typeof text.roles]],
      [t.id, <CopyId key="id" value={id} label={t.id} />],
      [t.columns.created, <Time key="created" at={createdAt} as="day" />],
      ...(clientId === null
        ? []
        : [
            [
              t.ofApplication,
              <Link key="application" to="/organisation/applications/$clientId" params={{ clientId }}>
                {t.openApplication}
              </Link>,
            ] as const,
          ]),
    ]}
  />
);
