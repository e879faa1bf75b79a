import { getAccount, invalidCredential, standardAuthErrors } from '@platform/auth';
import { type App, errorResponses, notFound } from '@platform/service-kit';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { Type } from 'typebox';
import { MCP_AUDIENCE } from '../../oauth/provider/protected-resources.js';
import type { ToolEndpoint } from '../endpoint/endpoint.js';
import {
  CARD_PATH,
  CARD_TYPE,
  listRegistryServers,
  type Site,
  toCatalog,
  toRegistryEntry,
  toServerCard,
} from './documents.js';

const CATALOG_PATH = '/.well-known/ai-catalog.json';
const CATALOG_TYPE = 'application/ai-catalog+json';
const REGISTRY_PATH = '/v0.1/servers';
const tags = ['Remote tools'];
const MAX_ENTRIES = 100;
const optionalBearer = [{}, { session: [] }, { token: [] }, { oauth: [] }];

/** Pages of any origin may read what needs no credential, and with a token what is for its holder. */
const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, OPTIONS',
  'access-control-allow-headers': 'Authorization, Content-Type',
};

const Remote = Type.Object({
  type: Type.String(),
  url: Type.String(),
  supportedProtocolVersions: Type.Optional(Type.Array(Type.String())),
  headers: Type.Optional(Type.Array(Type.Object({ name: Type.String(), value: Type.String() }))),
});
const ServerCard = Type.Object(
  {
    $schema: Type.String(),
    name: Type.String(),
    title: Type.String(),
    description: Type.String(),
    version: Type.String(),
    remotes: Type.Array(Remote),
  },
  { title: 'ServerCard' },
);
const Catalog = Type.Object(
  {
    specVersion: Type.String(),
    entries: Type.Array(
      Type.Object({
        identifier: Type.String(),
        displayName: Type.String(),
        type: Type.String(),
        url: Type.String(),
      }),
    ),
  },
  { title: 'AiCatalog' },
);
const RegistryEntry = Type.Object(
  {
    server: ServerCard,
    _meta: Type.Object({
      'io.modelcontextprotocol.registry/official': Type.Object({
        status: Type.String(),
        isLatest: Type.Boolean(),
      }),
    }),
  },
  { title: 'RegistryEntry' },
);

/** Registers the server card and the catalog that leads to it, which are the same for everybody. */
function cardRoutes(app: App, site: Site): void {
  for (const { path, type, schema, document, operationId, summary, description } of [
    {
      path: CARD_PATH,
      type: CARD_TYPE,
      schema: ServerCard,
      document: toServerCard(site),
      operationId: 'getServerCard',
      summary: 'The server card of the tool endpoint (SEP-2127)',
      description:
        'The same for everybody, so it may be cached for an hour. Pages of any origin may read it.',
    },
    {
      path: CATALOG_PATH,
      type: CATALOG_TYPE,
      schema: Catalog,
      document: toCatalog(site),
      operationId: 'getAiCatalog',
      summary: 'The AI Catalog of this host, which leads to the server card',
      description:
        'The same for everybody, so it may be cached for an hour. Pages of any origin may read it.',
    },
  ]) {
    const json = JSON.stringify(document);
    app.get(
      path,
      {
        schema: {
          operationId,
          tags,
          summary,
          description,
          response: { 200: { content: { [type]: { schema } } } },
        },
      },
      (_request, reply) => {
        const headers = { ...cors, 'cache-control': 'public, max-age=3600' };
        void reply
          .headers(headers)
          .type(type)
          .serializer(() => json)
          .send(document);
      },
    );
    preflight(app, path);
  }
}

function preflight(app: App, url: string): void {
  app.route({
    method: 'OPTIONS',
    url,
    schema: { hide: true },
    handler: (_request, reply) => reply.code(204).headers(cors).send(),
  });
}

/**
 * Registers what clients ask an MCP registry (v0.1) that allow only listed servers. Without a credential, it lists the tool
 * endpoint; with one, also the mounted servers of which its holder has a tool.
 */
function registryRoutes(app: App, site: Site, endpoint: Pick<ToolEndpoint, 'getCatalogue'>): void {
  const authenticate = app.authenticateFor(MCP_AUDIENCE);
  const onRequest: onRequestHookHandler = function (request, reply, done) {
    void reply.headers({ ...cors, vary: 'authorization' });
    if (request.headers.authorization === undefined) done();
    else authenticate.call(this, request, reply, done);
  };

  async function findServers(request: FastifyRequest) {
    if (request.headers.authorization === undefined) return listRegistryServers(site, []);
    const principal = getAccount(request);
    const view = (await endpoint.getCatalogue(principal)).getView(undefined);
    return listRegistryServers(site, [...view.names]);
  }

  app.get(
    REGISTRY_PATH,
    {
      onRequest,
      schema: {
        operationId: 'listRegistryServers',
        tags,
        summary: 'The MCP servers that the caller may use, as an MCP registry (v0.1) lists them',
        description:
          'Without a credential it lists the tool endpoint alone; with one, also the mounted servers of which the caller has a tool, reached through `/mcp`. Pages of any origin may read it.',
        security: optionalBearer,
        querystring: Type.Object({
          cursor: Type.Optional(Type.String({ maxLength: 200 })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ENTRIES })),
          search: Type.Optional(Type.String({ maxLength: 200, description: 'A part of the name.' })),
          version: Type.Optional(Type.String({ maxLength: 255, description: '`latest`, or a version.' })),
        }),
        response: {
          200: Type.Object({
            servers: Type.Array(RegistryEntry),
            metadata: Type.Object({ count: Type.Integer(), nextCursor: Type.Optional(Type.String()) }),
          }),
          ...errorResponses(400, invalidCredential(standardAuthErrors)),
        },
      },
    },
    async (request) => {
      const { cursor = '', limit = MAX_ENTRIES, search = '', version = 'latest' } = request.query;
      const found = (await findServers(request)).filter(
        ({ name }) => name > cursor && name.includes(search) && isVersion(version),
      );
      const page = found.slice(0, limit);
      const nextCursor = found.length > limit ? page.at(-1)?.name : undefined;
      return {
        servers: page.map((server) => toRegistryEntry(site, server)),
        metadata: { count: page.length, ...(nextCursor !== undefined && { nextCursor }) },
      };
    },
  );
  app.get(
    `${REGISTRY_PATH}/:name/versions/:version`,
    {
      onRequest,
      schema: {
        operationId: 'getRegistryServer',
        tags,
        summary: 'One of these servers; its only version is `latest`',
        description: 'A server of which the caller has no tool is 404.',
        security: optionalBearer,
        params: Type.Object({
          name: Type.String({ maxLength: 200 }),
          version: Type.String({ maxLength: 255 }),
        }),
        response: { 200: RegistryEntry, ...errorResponses(400, 404, invalidCredential(standardAuthErrors)) },
      },
    },
    async (request) => {
      const { name, version } = request.params;
      const server = (await findServers(request)).find((one) => one.name === name);
      if (!server || !isVersion(version)) throw notFound('Server not found');
      return toRegistryEntry(site, server);
    },
  );
  for (const path of [REGISTRY_PATH, `${REGISTRY_PATH}/:name/versions/:version`]) preflight(app, path);

  function isVersion(version: string): boolean {
    return version === 'latest' || version === site.version;
  }
}

/** Registers what clients read before they connect to the tool endpoint. [MCP-21] */
export function discoveryRoutes(app: App, site: Site, endpoint: Pick<ToolEndpoint, 'getCatalogue'>): void {
  cardRoutes(app, site);
  registryRoutes(app, site, endpoint);
}
