import { members } from '#text/members';
import { useQuery } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';

const t = members.page;
/** The scopes that tools of mounted servers need. */
const SCOPES = ['kb:read', 'semantic:write'] as const;
const MAX_SHOWN = 100;

/** The tools of mounted servers that a person can use, as the platform decides. */
export function UsableTools({ memberId }: { memberId: string }) {
  const query = useQuery({
    queryKey: ['mcp-servers', 'usable', memberId],
    async queryFn({ signal }) {
      const found = await Promise.all(
        SCOPES.map((name) =>
          unwrap(
            identity.POST('/access/v1/search/resource', {
              body: {
                subject: { type: 'user', id: memberId },
                action: { name },
                resource: { type: 'tool' },
                page: { limit: MAX_SHOWN },
              },
              signal,
            }),
          ),
        ),
      );
      return {
        names: found.flatMap(({ results }) => results.map(({ id }) => id)).toSorted(),
        isMore: found.some(({ page }) => page.next_token !== ''),
      };
    },
  });
  return (
    <Section title={t.tools}>
      <p className="quiet-text">{t.toolsHint}</p>
      <QueryView query={query}>
        {({ names, isMore }) =>
          names.length === 0 ? (
            <p className="quiet-text">{t.noTools}</p>
          ) : (
            <ul className="plain-list">
              {names.map((name) => (
                <li key={name}>
                  <code>{name}</code>
                </li>
              ))}
              {isMore && <li>{t.moreTools}</li>}
            </ul>
          )
        }
      </QueryView>
    </Section>
  );
}
