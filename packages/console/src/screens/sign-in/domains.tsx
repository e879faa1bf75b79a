import { identityProvider } from '#text/identity-provider';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { useAction } from '../../ui/use-action.ts';
import { type Domain, PROVIDER_KEY, PROVIDER_PATH } from './provider.ts';

const AddDomain = lazyPart(async () => (await import('./change-domains.tsx')).AddDomain);
const RemoveDomain = lazyPart(async () => (await import('./change-domains.tsx')).RemoveDomain);

const t = identityProvider.domains;

/** The domains of e-mail addresses that the provider speaks for. */
export function Domains({ domains }: { domains: readonly Domain[] }) {
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Domain>();
  return (
    <Section title={t.title} actions={<Button onPress={() => setAdding(true)}>{t.add}</Button>}>
      <p className="quiet-text">{t.hint}</p>
      {domains.length === 0 ? (
        <Empty title={t.none} action={<Button onPress={() => setAdding(true)}>{t.addFirst}</Button>}>
          {t.noneHint}
        </Empty>
      ) : (
        <ul className="settings">
          {domains.map((domain) => (
            <DomainRow key={domain.domain} domain={domain} onRemove={() => setRemoved(domain)} />
          ))}
        </ul>
      )}
      {isAdding && <AddDomain onClose={() => setAdding(false)} />}
      {removed && <RemoveDomain domain={removed.domain} onClose={() => setRemoved(undefined)} />}
    </Section>
  );
}

function DomainRow({
  domain: { domain, verifiedAt, record },
  onRemove,
}: {
  domain: Domain;
  onRemove: () => void;
}) {
  const verify = useAction({
    mutationFn: () =>
      unwrap(identity.POST(`${PROVIDER_PATH}/domains/{domain}/verify`, { params: { path: { domain } } })),
    onSuccess: () => announce(t.nowVerified(domain)),
    changes: [PROVIDER_KEY],
  });
  return (
    <li>
      <div>
        <h3>
          {domain}{' '}
          <Badge tone={verifiedAt === null ? 'notice' : 'good'}>
            {verifiedAt === null ? t.unverified : t.verified}
          </Badge>
        </h3>
        {verifiedAt === null && (
          <div className="field">
            <p>{t.create}</p>
            <Copyable value={record.name} label={t.recordName} />
            <Copyable value={record.value} label={t.recordValue} />
          </div>
        )}
        <ProblemNote error={verify.error} />
      </div>
      <span className="actions">
        {verifiedAt === null && (
          <Button
            aria-label={t.verifyOne(domain)}
            isPending={verify.isPending}
            onPress={() => verify.mutate()}
          >
            {t.verify}
          </Button>
        )}
        <Button aria-label={t.removeOne(domain)} onPress={onRemove}>
          {t.remove}
        </Button>
      </span>
    </li>
  );
}
