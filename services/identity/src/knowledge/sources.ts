import type { AccountPrincipal } from '@platform/auth';
import { canUseConnector } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import { Type } from 'typebox';
import type pg from 'pg';
import { AgeReport, toAgeReports } from '../facts/age-words.js';
import { type CrawlAge, findCrawlAges } from '../facts/crawl-ages.js';
import { findGroupReferences } from '../groups/queries.js';
import type { ToolEntry } from '../mcp/endpoint/catalogue.js';
import type { ToolEndpoint } from '../mcp/endpoint/endpoint.js';
import { canReach } from '../mcp/endpoint/reach.js';
import type { Prisma } from '../prisma.js';

/*
 * The sources of what agents know: the connectors that mounted servers answer from. Everybody sees those of the tools that the
 * credential reaches, which their answers tell as well; administrators see all that was ever crawled. Which of its documents
 * somebody finds is decided by the search, which has their access lists. [MCP-77]
 */

const NullableInstant = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

export const KnowledgeSource = Type.Object(
  {
    ...AgeReport.properties,
    servers: Type.Array(Type.String(), {
      description: 'The mounted servers that answer from it, as far as the caller reaches their tools.',
    }),
    lastFullAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When a crawl of everything, from the beginning, has last completed.',
    }),
    crawled: Type.Union(
      [
        Type.Object({
          description: Type.String({ description: 'The folder, site, repository or account.' }),
          documents: Type.Union([Type.Integer(), Type.Null()]),
          oldestAt: NullableInstant,
          newestAt: NullableInstant,
        }),
        Type.Null(),
      ],
      { description: 'What its worker says of the source; null when it says nothing.' },
    ),
    readers: Type.Object(
      {
        everyone: Type.Boolean({ description: 'Whether some tool that answers from it is for everybody.' }),
        groups: Type.Array(Type.String(), {
          description:
            'The groups that the other tools are limited to; of those, a member sees the own ones alone.',
        }),
      },
      {
        description:
          'Who can search it. Which of its documents each of them finds is decided by the access list of the document.',
      },
    ),
  },
  { title: 'KnowledgeSource' },
);
export type KnowledgeSource = Type.Static<typeof KnowledgeSource>;

const describeCrawled = ({ source }: CrawlAge): KnowledgeSource['crawled'] =>
  source && {
    description: source.description,
    documents: source.documents ?? null,
    oldestAt: source.oldestAt ?? null,
    newestAt: source.newestAt ?? null,
  };

const isSame = (one: CrawlAge, other: Pick<CrawlAge, 'connector' | 'instance'>): boolean =>
  one.connector === other.connector && one.instance === other.instance;

export const createListSources =
  (deps: {
    readonly pool: pg.Pool;
    readonly prisma: Prisma;
    readonly endpoint: Pick<ToolEndpoint, 'getTools'>;
    readonly clock: Clock;
  }) =>
  async (caller: AccountPrincipal): Promise<KnowledgeSource[]> => {
    const { orgId, role, bounds } = caller;
    const isAdmin = role === 'admin';
    const [catalogue, known] = await Promise.all([
      deps.endpoint.getTools(caller),
      findCrawlAges(deps.pool, orgId),
    ]);
    const reach = { groups: new Set(caller.groups?.map(({ id }) => id)), bounds };
    const answering = catalogue.list().filter(({ knowledge }) => (knowledge?.connectors.length ?? 0) > 0);
    const reached = answering.filter((entry) => canReach(entry, reach));
    const crawled = isAdmin ? known.map(({ connector }) => connector) : [];
    const connectors = [...new Set([...reached.flatMap(listConnectors), ...crawled])]
      .filter((connector) => canUseConnector(caller, connector))
      .toSorted();
    const shown = isAdmin ? answering : reached;
    const groupIds = [...new Set(shown.flatMap(({ audiences = [] }) => audiences.flat()))].filter(
      (id) => isAdmin || reach.groups.has(id),
    );
    const groups = groupIds.length === 0 ? [] : await findGroupReferences(deps.prisma, orgId, groupIds);
    const names = new Map(groups.map(({ id, name }) => [id, name]));

    function describeReaders(connector: string): KnowledgeSource['readers'] {
      const tools = shown.filter((entry) => listConnectors(entry).includes(connector));
      const limits = tools.map(({ audiences = [] }) => audiences);
      const named = limits.flat(2).flatMap((id) => names.get(id) ?? []);
      return {
        everyone: limits.some((audiences) => audiences.length === 0),
        groups: [...new Set(named)].toSorted(),
      };
    }

    return toAgeReports(connectors, known, deps.clock()).map((report) => {
      const age = known.find((one) => isSame(one, report));
      const servers = reached.flatMap((entry) =>
        listConnectors(entry).includes(report.connector) ? (entry.knowledge?.server ?? []) : [],
      );
      return {
        ...report,
        servers: [...new Set(servers)].toSorted(),
        lastFullAt: age?.fullAt?.toISOString() ?? null,
        crawled: age ? describeCrawled(age) : null,
        readers: describeReaders(report.connector),
      };
    });
  };

const listConnectors = ({ knowledge }: ToolEntry): readonly string[] => knowledge?.connectors ?? [];
