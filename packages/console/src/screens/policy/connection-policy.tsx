import { connectionPolicy as t } from '#text/connection-policy';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Facts, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { type ClientKind, type ConnectionPolicy, connectionPolicyQuery, MAX_DAYS } from './connections.ts';

const ChangeConnections = lazyPart(async () => (await import('./change-connections.tsx')).ChangeConnections);

/** Which applications the organisation lets its members connect. */
export function ConnectionPolicySection() {
  const query = useQuery(connectionPolicyQuery);
  const [isChanging, setChanging] = useState(false);
  return (
    <Section
      title={t.title}
      actions={query.data && <Button onPress={() => setChanging(true)}>{t.edit}</Button>}
    >
      <QueryView query={query}>{({ policy }) => <ConnectionFacts policy={policy} />}</QueryView>
      {isChanging && query.data && <ChangeConnections {...query.data} onClose={() => setChanging(false)} />}
    </Section>
  );
}

const ClientKinds = ({ kinds }: { kinds: readonly ClientKind[] }) => (
  <span className="stack">
    {kinds.length === 0 ? t.noKinds : kinds.map((kind) => <span key={kind}>{t.kindNames[kind]}</span>)}
  </span>
);

const ConnectionFacts = ({
  policy: { clientKinds, hosts, additionalHosts, connectableBy, maxLifetimeDays },
}: {
  policy: ConnectionPolicy;
}) => (
  <Facts
    of={[
      [t.kinds, <ClientKinds key="kinds" kinds={clientKinds} />],
      ...(clientKinds.includes('document')
        ? [
            [t.hosts, hosts.join(', ') || t.anyHost] as const,
            [t.additionalHosts, additionalHosts.join(', ') || t.noHosts] as const,
          ]
        : []),
      [t.by, t.byNames[connectableBy]],
      [t.lifetime, t.days(maxLifetimeDays ?? MAX_DAYS)],
    ]}
  />
);
