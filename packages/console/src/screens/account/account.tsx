import { account as t } from '#text/account';
import { text } from '#text/shared';
import { useState } from 'react';
import { useMe } from '../../api/me.ts';
import { Button } from '../../ui/button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Facts, Page, Section, Setting, Settings } from '../../ui/page.tsx';
import { ProviderConnection } from './provider-connection.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

const ChangePassword = lazyPart(async () => (await import('./change-password.tsx')).ChangePassword);

/** One's own account: who one is, how one signs in, and where. */
export function Screen() {
  const me = useMe();
  const [isChanging, setChanging] = useState(false);
  return (
    <Page title={text.screens.account} intro={t.intro}>
      <Facts
        of={[
          [t.name, me.fullName],
          [t.email, me.email],
          [t.role, text.roles[me.role as keyof typeof text.roles]],
        ]}
      />
      <Section title={t.signIn}>
        <Settings>
          <Setting
            title={t.password.title}
            action={<Button onPress={() => setChanging(true)}>{t.password.change}</Button>}
          >
            {t.password.intro}
          </Setting>
          <SecondFactor />
          <ProviderConnection />
        </Settings>
      </Section>
      <Sessions />
      {isChanging && <ChangePassword onClose={() => setChanging(false)} />}
    </Page>
  );
}
