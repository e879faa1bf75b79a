import { members as t } from '#text/members';
import { text } from '#text/shared';
import type { IdentitySchemas } from '@platform/clients/types';
import { useQuery } from '@tanstack/react-query';
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
      {({ sessions, tokens, apps, passkeys, services, subscriptions }) => (
        <ul className="reasons">
          <li>{t.sessionsEnd(sessions)}</li>
          <Ended of={apps} words={t.appsEnd} />
          <Ended of={tokens} words={t.tokensEnd} />
          <Ended of={passkeys} words={t.passkeysEnd} />
          <Ended of={services} words={t.servicesEnd} />
          <Ended of={subscriptions} words={t.subscriptionsEnd} />
        </ul>
      )}
    </QueryView>
  );
}

interface EndedProps {
  readonly of: IdentitySchemas['schemas']['MemberRemoval']['tokens'];
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
