import { text } from '#text/shared';
import { signIn as t } from '#text/sign-in';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Page, Section, Setting, Settings } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { ProviderSection } from './provider-section.tsx';
import { signInQuery } from './settings.ts';

const ChangeCodes = lazyPart(async () => (await import('./change-codes.tsx')).ChangeCodes);
const ChangeFactor = lazyPart(async () => (await import('./change-factor.tsx')).ChangeFactor);

/** The settings of how the members of the organisation sign in. */
export function Screen() {
  const query = useQuery(signInQuery);
  const [dialog, setDialog] = useState<'codes' | 'factor'>();
  const close = (): void => setDialog(undefined);
  const settings = query.data;
  return (
    <Page title={text.screens.signIn} intro={t.intro}>
      <QueryView query={query}>
        {({ codesEnabled, secondFactorRequired }) => (
          <Section title={t.settings}>
            <Settings>
              <Setting
                title={t.secondFactor.title}
                action={
                  <Button onPress={() => setDialog('factor')}>
                    {secondFactorRequired ? t.secondFactor.release : t.secondFactor.require}
                  </Button>
                }
              >
                {secondFactorRequired ? t.secondFactor.required : t.secondFactor.optional}
              </Setting>
              <Setting
                title={t.codes.title}
                action={
                  <Button onPress={() => setDialog('codes')}>
                    {codesEnabled ? t.codes.disable : t.codes.enable}
                  </Button>
                }
              >
                {codesEnabled ? t.codes.on : t.codes.off}
              </Setting>
            </Settings>
          </Section>
        )}
      </QueryView>
      <ProviderSection />
      {settings && dialog === 'factor' && <ChangeFactor settings={settings} onClose={close} />}
      {settings && dialog === 'codes' && <ChangeCodes settings={settings} onClose={close} />}
    </Page>
  );
}
