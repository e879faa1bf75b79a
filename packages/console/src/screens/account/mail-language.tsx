import { account } from '#text/account';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { preferencesQuery } from '../../api/preferences.ts';
import { Button } from '../../ui/button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Setting } from '../../ui/page.tsx';

const ChangeLanguage = lazyPart(async () => (await import('./change-language.tsx')).ChangeLanguage);

const t = account.language;

/** The language of the mails to oneself. */
export function MailLanguage() {
  const [isChanging, setChanging] = useState(false);
  const { data } = useQuery(preferencesQuery);
  if (!data) return null;
  const { language } = data;
  return (
    <>
      <Setting title={t.title} action={<Button onPress={() => setChanging(true)}>{t.change}</Button>}>
        {t.intro(language === null ? t.organisation : t.names[language])}
      </Setting>
      {isChanging && <ChangeLanguage language={language} onClose={() => setChanging(false)} />}
    </>
  );
}
