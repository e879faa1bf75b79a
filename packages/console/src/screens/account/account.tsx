import { account as t } from '#text/account';
import { text } from '#text/shared';
import { useState } from 'react';
import { useMe } from '../../api/me.ts';
import { Button } from '../../ui/button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Facts, Page, Section, Setting, Settings } from '../../ui/page.tsx';
import { Appearance } from './appearance.tsx';
import { MailLanguage } from './mail-language.tsx';
import { ProviderConnection } from './provider-connection.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

const ChangeName = lazyPart(async () => (await import('./change-name.tsx')).ChangeName);
const ChangePassword = lazyPart(async () => (await import('./change-password.tsx')).ChangePassword);

/** One's own account: who one is, how one signs in, and where. */
export function Screen() {
  const me = useMe();
  const [open, setOpen] = useState<'name' | 'password'>();
  const close = (): void => setOpen(undefined);
  return (
    <Page
      title={text.screens.account}
      intro={t.intro}
      actions={<Button onPress={() => setOpen('name')}>{t.fullName.change}</Button>}
    >
      <Facts
        of={[
          [t.name, me.fullName],
          [t.email, me.email],
          [t.role, text.roles[me.role as keyof typeof text.roles]],
          [t.version, document.querySelector<HTMLMetaElement>('meta[name=version]')?.content],
        ]}
      />
      <Section title={t.signIn}>
        <Settings>
          <Setting
            title={t.password.title}
            action={<Button onPress={() => setOpen('password')}>{t.password.change}</Button>}
          >
            {t.password.intro}
          </Setting>
          <SecondFactor />
          <ProviderConnection />
        </Settings>
      </Section>
      <Section title={t.mails}>
        <Settings>
          <MailLanguage />
        </Settings>
      </Section>
      <Appearance />
      <Sessions />
      {open === 'name' && <ChangeName onClose={close} />}
      {open === 'password' && <ChangePassword onClose={close} />}
    </Page>
  );
}
