import { knowledge } from '#text/knowledge';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';
import { Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { sourcesQuery } from './api.ts';

const t = knowledge.asMember;
const READ = 'kb:read';
const MAX_SERVERS = 100;

/** The sources that a member's agents can search, as the platform decides. It reads no document as somebody else. */
export function ReachedSources({ memberId }: { memberId: string }) {
  const sources = useQuery(sourcesQuery);
  const reached = useQuery({
    queryKey: ['mcp-servers', 'reached', memberId],
    async queryFn({ signal }) {
      const [found, mounted] = await Promise.all([
        unwrap(
          identity.POST('/access/v1/search/resource', {
            body: {
              subject: { type: 'user', id: memberId },
              action: { name: READ },
              resource: { type: 'server' },
              page: { limit: MAX_SERVERS },
            },
            signal,
          }),
        ),
        unwrap(identity.GET('/api/v1/mcp-servers', { params: { query: { limit: MAX_SERVERS } }, signal })),
      ]);
      const names = new Set(found.results.map(({ id }) => id));
      return mounted.data.filter(({ name }) => names.has(name));
    },
  });
  if (sources.data?.length === 0) return null;
  return (
    <Section title={t.title}>
      <p className="quiet-text">{t.hint}</p>
      <QueryView query={reached}>
        {(servers) => (
          <ul className="settings concerns">
            {(sources.data ?? []).map((source) => {
              const key = toConnectorKey(source);
              const using = servers.filter(({ connectors }) =>
                connectors.some((connector) => connector === source.connector),
              );
              const canSearch = using.length > 0;
              return (
                <li key={key}>
                  <div>
                    <h3>
                      <Link to={`/knowledge/${key}`}>{getConnectorName(key)}</Link>
                    </h3>
                    <p>{canSearch ? t.with(using.map(({ name }) => name)) : t.none}</p>
                  </div>
                  <Badge tone={canSearch ? 'good' : 'neutral'}>{canSearch ? t.yes : t.no}</Badge>
                </li>
              );
            })}
          </ul>
        )}
      </QueryView>
    </Section>
  );
}
