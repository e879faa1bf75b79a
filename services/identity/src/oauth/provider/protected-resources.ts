import { type Scope, scopeCatalogue } from '@platform/auth';
import { parseUrl } from '@platform/service-kit';

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

/**
 * Returns the form in which indicators are compared: as RFC 3986 §6 normalises scheme, host and port, and without a slash at the
 * end, which people and clients append.
 */
function normalise(indicator: string): string {
  const url = parseUrl(indicator);
  const isPlain =
    url?.search === '' && url.username === '' && url.password === '' && !indicator.includes('#');
  return isPlain ? url.origin + url.pathname.replace(/\/+$/, '') : indicator;
}

/** The resources by their indicator: the remote tools, the whole REST API, and the two services that have a path. */
export function createProtectedResources(publicUrl: string) {
  const mcp = `${publicUrl}/mcp`;
  const api = `${publicUrl}/api/v1`;
  const tools = { audiences: [MCP_AUDIENCE], scopes: allScopes };
  const named: [indicator: string, resource: ProtectedResource][] = [
    [mcp, tools],
    // Many clients name the server by its origin alone.
    [publicUrl, tools],
    [api, { audiences: ['identity', 'mail', 'crawl'], scopes: allScopes }],
    [`${api}/mail`, { audiences: ['mail'], scopes: serviceScopes.mail }],
    [`${api}/crawlingManager`, { audiences: ['crawl'], scopes: serviceScopes.crawl }],
  ];
  const resources = new Map(named.map(([indicator, resource]) => [normalise(indicator), resource]));
  return {
    mcp,
    api,
    /** Finds the resource that an indicator means, in any of its forms. */
    find: (indicator: string): ProtectedResource | undefined => resources.get(normalise(indicator)),
  };
}
export type ProtectedResources = ReturnType<typeof createProtectedResources>;
