import { identityProvider as t } from '#text/identity-provider';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { readOnly } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Empty, Facts, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useAction } from '../../ui/use-action.ts';
import { TestSection } from '../../ui/testing.tsx';
import { Domains } from './domains.tsx';
import { PROVIDER_PATH, type Provider, providerQuery } from './provider.ts';

const ChangeProvider = lazyPart(async () => (await import('./change-provider.tsx')).ChangeProvider);
const RemoveProvider = lazyPart(async () => (await import('./remove-provider.tsx')).RemoveProvider);

/** The organisation's own identity provider, and the domains that it speaks for. */
export function ProviderSection() {
  const query = useQuery(providerQuery);
  const [dialog, setDialog] = useState<'change' | 'remove'>();
  const close = (): void => setDialog(undefined);
  const provider = query.data?.identityProvider;
  const actions = query.data && (
    <>
      <Button onPress={() => setDialog('change')}>{provider ? t.change : t.setUp}</Button>
      {provider && <Button onPress={() => setDialog('remove')}>{t.remove}</Button>}
    </>
  );
  return (
    <>
      <Section title={t.title} actions={actions}>
        <QueryView query={query}>
          {({ identityProvider, redirectUri }) =>
            identityProvider ? (
              <ProviderFacts provider={identityProvider} redirectUri={redirectUri} />
            ) : (
              <Empty
                title={t.none}
                action={<Button onPress={() => setDialog('change')}>{t.setUpFirst}</Button>}
              >
                {t.noneHint}
              </Empty>
            )
          }
        </QueryView>
      </Section>
      {query.data && <Domains domains={query.data.domains} />}
      {query.data && dialog === 'change' && (
        <ChangeProvider provider={provider} redirectUri={query.data.redirectUri} onClose={close} />
      )}
      {dialog === 'remove' && <RemoveProvider onClose={close} />}
    </>
  );
}

const ProviderFacts = ({ provider, redirectUri }: { provider: Provider; redirectUri: string }) => (
  <>
    <Facts
      of={[
        [t.facts.issuer, <code key="issuer">{provider.issuer}</code>],
        [t.facts.client, <code key="client">{provider.clientId}</code>],
        [t.facts.secret, provider.hasClientSecret ? t.facts.secretSet : t.facts.secretNone],
        [t.facts.membership, provider.justInTimeMembership ? t.facts.everyone : t.facts.invited],
        [t.facts.required, provider.required ? t.facts.passwordsEnd : t.facts.passwordsWork],
        [
          t.facts.factor,
          provider.secondFactorValues.length > 0
            ? t.facts.factorTrusted(provider.secondFactorValues.join(', '))
            : t.facts.factorOwn,
        ],
        [t.facts.redirect, <code key="redirect">{redirectUri}</code>],
      ]}
    />
    <ProviderTest />
  </>
);

/** Reads the provider's metadata now, and says what is wrong. */
function ProviderTest() {
  const test = useAction({ mutationFn: () => unwrap(identity.POST(`${PROVIDER_PATH}/test`, readOnly)) });
  const result = test.data;
  return (
    <TestSection
      actions={
        <Button isPending={test.isPending} onPress={() => test.mutate()}>
          {t.test.submit}
        </Button>
      }
      isPending={test.isPending}
      error={test.error}
      result={
        result && {
          isGood: result.isUsable,
          label: result.isUsable ? t.test.works : t.test.fails,
          details: (
            <>
              {result.fault !== undefined && (t.test.faults[result.fault] ?? result.fault)}
              {result.status !== undefined && ` (${t.test.status(result.status)})`}
            </>
          ),
        }
      }
    />
  );
}
