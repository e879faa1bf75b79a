import { text } from '#text/shared';
import { tokenPolicy as t } from '#text/token-policy';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Facts, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { ScopeWords } from '../../ui/scope-words.tsx';
import { ConnectionPolicySection } from './connection-policy.tsx';
import { type Policy, policyQuery } from './policy.ts';

const ChangePolicy = lazyPart(async () => (await import('./change-policy.tsx')).ChangePolicy);

/** The rules that an organisation has for its tokens. */
export function Screen() {
  const query = useQuery(policyQuery);
  const [isChanging, setChanging] = useState(false);
  const change = (
    <Button kind="primary" onPress={() => setChanging(true)}>
      {t.edit}
    </Button>
  );
  return (
    <Page title={text.screens.tokenPolicy} intro={t.intro} actions={query.data && change}>
      <QueryView query={query}>{(policy) => <PolicyFacts policy={policy} />}</QueryView>
      <ConnectionPolicySection />
      {isChanging && query.data && <ChangePolicy policy={query.data} onClose={() => setChanging(false)} />}
    </Page>
  );
}

const PolicyFacts = ({ policy }: { policy: Policy }) => (
  <Facts
    of={[
      [t.lifetime, policy.maxLifetimeDays === null ? t.lifetimeAny : t.days(policy.maxLifetimeDays)],
      [t.never, policy.allowsNever && policy.maxLifetimeDays === null ? t.neverAllowed : t.neverDenied],
      [t.allowList, policy.allowList.length === 0 ? t.anyAddress : policy.allowList.join(', ')],
      [
        t.denied,
        policy.deniedScopes.length === 0 ? (
          t.deniedNone
        ) : (
          <ScopeWords key="denied" scopes={policy.deniedScopes} />
        ),
      ],
      [t.reuse, policy.revokeFamilyOnReuse ? t.reuseRevokes : t.reuseMails],
      [t.unused, policy.revokeUnusedDays === null ? t.unusedKept : t.unusedRevoked(policy.revokeUnusedDays)],
    ]}
  />
);
