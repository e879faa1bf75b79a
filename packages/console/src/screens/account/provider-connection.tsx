import { account } from '#text/account';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Setting } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

const DisconnectProvider = lazyPart(
  async () => (await import('./disconnect-provider.tsx')).DisconnectProvider,
);

const t = account.provider;

/** The connection of one's account with the organisation's identity provider; nothing when there is none. */
export function ProviderConnection() {
  const [isDisconnecting, setDisconnecting] = useState(false);
  const { data } = useQuery({
    queryKey: ['provider-connection'],
    queryFn: ({ signal }) => unwrap(identity.GET('/api/v1/auth/identity-provider', { signal })),
  });
  if (!data?.connection) return null;
  const { issuer, connectedAt } = data.connection;
  return (
    <>
      <Setting
        title={t.title}
        action={!data.isRequired && <Button onPress={() => setDisconnecting(true)}>{t.disconnect}</Button>}
      >
        {t.connected(new URL(issuer).host)} <Time at={connectedAt} as="day" />.
        {data.isRequired && ` ${t.required}`}
      </Setting>
      {isDisconnecting && <DisconnectProvider onClose={() => setDisconnecting(false)} />}
    </>
  );
}
