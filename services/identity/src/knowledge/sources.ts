import type { AccountPrincipal } from '@platform/auth';
import { canUseConnector } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import { Type } from 'typebox';
import type pg from 'pg';
import { AgeReport, toAgeReports } from '../facts/age-words.js';
import { findCrawlAges } from '../facts/crawl-ages.js';
import type { ToolEndpoint } from '../mcp/endpoint/endpoint.js';
import { canReach } from '../mcp/endpoint/reach.js';

/*
 * The sources of what agents know: the connectors that mounted servers answer from. Everybody sees those of the tools that the
 * credential reaches, which their answers tell as well; administrators see all that was ever crawled.
 */

export const KnowledgeSource = Type.Object(
  {
    ...AgeReport.properties,
    servers: Type.Array(Type.String(), {
      description: 'The mounted servers that answer from it, as far as the caller reaches their tools.',
    }),
  },
  { title: 'KnowledgeSource' },
);
export type KnowledgeSource = Type.Static<typeof KnowledgeSource>;

export const createListSources =
  (deps: {
    readonly pool: pg.Pool;
    readonly endpoint: Pick<ToolEndpoint, 'getTools'>;
    readonly clock: Clock;
  }) =>
  async (caller: AccountPrincipal): Promise<KnowledgeSource[]> => {
    const { orgId, role, bounds } = caller;
    const [catalogue, known] = await Promise.all([
      deps.endpoint.getTools(caller),
      findCrawlAges(deps.pool, orgId),
    ]);
    const reach = { groups: new Set(caller.groups?.map(({ id }) => id)), bounds };
    const servers = new Map<string, Set<string>>();
    for (const entry of catalogue.list())
      if (entry.knowledge && canReach(entry, reach))
        for (const connector of entry.knowledge.connectors)
          servers.set(connector, (servers.get(connector) ?? new Set()).add(entry.knowledge.server));
    const crawled = role === 'admin' ? known.map(({ connector }) => connector) : [];
    const connectors = [...new Set([...servers.keys(), ...crawled])]
      .filter((connector) => canUseConnector(caller, connector))
      .toSorted();
    return toAgeReports(connectors, known, deps.clock()).map((report) => ({
      ...report,
      servers: [...(servers.get(report.connector) ?? [])].toSorted(),
    }));
  };
