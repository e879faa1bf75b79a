import { connect as t } from '#text/connect';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';
import { hasRegistration } from '../../api/registration.ts';
import { EmptyLink } from '../../ui/dialog-button.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { Page, Section } from '../../ui/page.tsx';
import python from './agent.py.txt?raw';
import typescript from './agent.mjs.txt?raw';
import { Attempts } from './attempts.tsx';
import { type Client, isPrivateHost, listClients } from './clients.ts';
import { LiveCall } from './live-call.tsx';

const REMEMBERED = 'console.connect.client';

/** The way from an address to the first call, for each client. */
export function Screen() {
  const url = `${location.origin}/mcp`;
  const clients = listClients(url, { python, typescript });
  const { data: canRegister = true } = useQuery({ queryKey: ['registration'], queryFn: hasRegistration });
  const [chosen, setChosen] = useState(() => localStorage.getItem(REMEMBERED) ?? '');
  const client = clients.find(({ id }) => id === chosen) ?? clients.find(({ id }) => id === 'claude-code');
  const choose = (id: string): void => {
    localStorage.setItem(REMEMBERED, id);
    setChosen(id);
  };
  return (
    <Page title={t.title} intro={t.intro}>
      <Section title={t.address}>
        <Copyable value={url} label={t.address} />
        <p className="hint">{t.addressHint}</p>
      </Section>
      <Section title={t.client}>
        <ToggleButtonGroup
          aria-label={t.client}
          className="tiles"
          disallowEmptySelection
          selectedKeys={[client?.id ?? '']}
          onSelectionChange={(keys) => choose(String([...keys][0]))}
        >
          {clients.map(({ id, name }) => (
            <ToggleButton key={id} id={id}>
              {name}
            </ToggleButton>
          ))}
        </ToggleButtonGroup>
        {client && <Ways key={client.id} client={client} canRegister={canRegister} />}
      </Section>
      <Section title={t.live.title}>
        <LiveCall />
      </Section>
      <Attempts canRegister={canRegister} />
    </Page>
  );
}

function Ways({ client, canRegister }: { client: Client; canRegister: boolean }) {
  const { name, steps, oauth, token, isRemote = false, registersItself = false } = client;
  const isUnreachable = isRemote && isPrivateHost(location.hostname);
  return (
    <div className="ways" role="group" aria-label={name}>
      {(steps ?? oauth) && <h3>{t.oauth}</h3>}
      {isUnreachable && <p className="warning">{t.private(name, location.hostname)}</p>}
      {registersItself && !canRegister && <p className="warning">{t.needsRegistration(name)}</p>}
      {steps && (
        <ol className="numbered">
          {t.steps[steps].map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      )}
      {oauth && (
        <>
          <p className="quiet-text">{t.oauthHint}</p>
          <Copyable value={oauth.code} label={t.code(name)} />
          <p className="hint">{t.hints[oauth.hint as keyof typeof t.hints]}</p>
          {oauth.program !== undefined && <Copyable value={oauth.program} label={t.program(name)} />}
        </>
      )}
      <h3>{t.token}</h3>
      {token ? (
        <>
          <p className="quiet-text">{oauth ? t.tokenHint : t.noOauth(name)}</p>
          <p>
            <EmptyLink to="/account/tokens" label={t.createToken} />
          </p>
          <Copyable value={token.code} label={t.tokenCode(name)} />
          <p className="hint">{t.tokenHints[token.hint as keyof typeof t.tokenHints]}</p>
        </>
      ) : (
        <p className="quiet-text">{t.noToken(name)}</p>
      )}
    </div>
  );
}
