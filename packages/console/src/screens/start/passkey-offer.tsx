import { start } from '#text/start';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { Button } from '../../ui/button.tsx';

const t = start.passkey;
const SET_UP = '/sign-in/security?returnTo=/';

const canHavePasskeys = (): boolean =>
  typeof PublicKeyCredential === 'function' && 'parseCreationOptionsFromJSON' in PublicKeyCredential;

/** Offers a passkey to whoever signs in without one, until they have one or decline it in this browser. */
export function PasskeyOffer() {
  const key = `console.passkey-declined.${useMe().id}`;
  const [isDeclined, setDeclined] = useState(() => localStorage.getItem(key) !== null);
  const isAsked = !isDeclined && canHavePasskeys();
  const { data } = useQuery({
    queryKey: ['passkey-offer'],
    async queryFn({ signal }) {
      const [{ secondFactor }, { isRequired }] = await Promise.all([
        unwrap(identity.GET('/api/v1/auth/second-factor', { signal })),
        unwrap(identity.GET('/api/v1/auth/identity-provider', { signal })),
      ]);
      return secondFactor.canAddPasskey && secondFactor.passkeys.length === 0 && !isRequired;
    },
    enabled: isAsked,
    // It is set up on another page.
    staleTime: 0,
  });
  if (!isAsked || !data) return null;
  return (
    <aside className="offer" aria-label={t.title}>
      <div>
        <strong>{t.title}</strong>
        <p>{t.advice}</p>
      </div>
      <a className="button plain" href={SET_UP}>
        {t.setUp}
      </a>
      <Button
        kind="quiet"
        onPress={() => {
          localStorage.setItem(key, '1');
          setDeclined(true);
        }}
      >
        {t.decline}
      </Button>
    </aside>
  );
}
