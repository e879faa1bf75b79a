import { members as t } from '#text/members';
import { text } from '#text/shared';
import type { IdentitySchemas } from '@platform/clients/types';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { identity, unwrap } from '../../api/client.ts';
import { QueryView } from '../../ui/query-view.tsx';

/** Lists what ends with the member's removal, which cannot be confirmed before that is known. */
export function RemovalEffects({ memberId: id }: { memberId: string }) {
  const query = useQuery({
    queryKey: ['members', 'removal', id],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/users/{id}/removal', { params: { path: { id } }, signal })))
        .removal,
    staleTime: 0,
  });
  return (
    <QueryView query={query}>
      {({ sessions, tokens, apps, passkeys, services, subscriptions, serviceAccounts }) => (
        <ul className="reasons">
          <li>{t.sessionsEnd(sessions)}</li>
          <Ended of={apps} words={t.appsEnd} />
          <Ended of={tokens} words={t.tokensEnd} />
          <Ended of={passkeys} words={t.passkeysEnd} />
          <Ended of={services} words={t.servicesEnd} />
          <Ended of={subscriptions} words={t.subscriptionsEnd} />
          {serviceAccounts.total > 0 && <Kept of={serviceAccounts} />}
        </ul>
      )}
    </QueryView>
  );
}

type Removal = IdentitySchemas['schemas']['MemberRemoval'];

interface EndedProps {
  readonly of: Removal['tokens'];
  words(count: number, isMore: boolean): string;
}

const Ended = ({ of: { total, totalIsMinimum, names }, words }: EndedProps) => (
  <li>
    {words(total, totalIsMinimum)}
    {names.length > 0 && (
      <small className="stack">
        {/* Two of them may have the same name. */}
        {names.map((name, index) => (
          <span key={index}>{name}</span>
        ))}
        {total > names.length && text.andMore(total - names.length)}
      </small>
    )}
  </li>
);

/** The service accounts that somebody has set up: they are the organisation's. */
const Kept = ({ of: { total, totalIsMinimum, accounts } }: { of: Removal['serviceAccounts'] }) => (
  <li>
    {t.serviceAccountsStay(total, totalIsMinimum)}
    <small className="stack">
      {accounts.map(({ id, name }) => (
        <Link key={id} to="/organisation/service-accounts/$accountId" params={{ accountId: id }}>
          {name}
        </Link>
      ))}
      {total > accounts.length && text.andMore(total - accounts.length)}
    </small>
  </li>
);
