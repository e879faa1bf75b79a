import { type Scope, scopeCatalogue } from '@platform/auth';

/** A resource that an access token can be requested for (RFC 8707), with the services that accept the token. */
export interface ProtectedResource {
  readonly audiences: readonly string[];
  readonly scopes: readonly Scope[];
}

/** The audience of the remote tool endpoint. It differs from identity's, so that an agent's token opens only the tools. */
export const MCP_AUDIENCE = 'mcp';

export const allScopes: readonly Scope[] = scopeCatalogue.flatMap(({ scopes }) =>
  scopes.map(({ name }) => name),
);

/** The scopes that the services know. */
export const serviceScopes = {
  crawl: ['crawl:read', 'crawl:write', 'crawl:delete', 'crawl:work'],
  mail: ['SEND_MAIL', 'FETCH_CONFIG'],
} as const satisfies Record<string, readonly Scope[]>;

/** The resources by their indicator: the remote tools, the whole REST API, and the two services that have a path. */
export function createProtectedResources(publicUrl: string) {
  const mcp = `${publicUrl}/mcp`;
  const api = `${publicUrl}/api/v1`;
  const resources = new Map<string, ProtectedResource>([
    [mcp, { audiences: [MCP_AUDIENCE], scopes: allScopes }],
    [api, { audiences: ['identity', 'mail', 'crawl'], scopes: allScopes }],
    [`${api}/mail`, { audiences: ['mail'], scopes: serviceScopes.mail }],
    [`${api}/crawlingManager`, { audiences: ['crawl'], scopes: serviceScopes.crawl }],
  ]);
  return { mcp, api, find: (indicator: string) => resources.get(indicator) };
}
export type ProtectedResources = ReturnType<typeof createProtectedResources>;
