import { isIP } from 'node:net';
import { LEGACY_VERSIONS, MODERN_VERSION } from '../endpoint/protocol-era.js';
import { toServerPattern } from '../endpoint/tool-filter.js';

/*
 * The documents about the tool endpoint, for clients before they connect:
 *
 *   the server card (SEP-2127), at the place that is reserved for it below the endpoint
 *   the AI Catalog of the host, by which clients find the card
 *   the entries of an MCP registry (v0.1), of which governed clients allow only what is listed
 */

const MCP_PATH = '/mcp';
export const CARD_PATH = `${MCP_PATH}/server-card`;
export const CARD_TYPE = 'application/mcp-server-card+json';
const CARD_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';
const ENTRY_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

const NAME = 'workspace-knowledge-platform';
const TITLE = 'Workspace Knowledge Platform';
const DESCRIPTION = 'Tools of a workspace: its knowledge, crawls, mails and access tokens.';

/** Where the platform is reached, and its version. */
export interface Site {
  readonly publicUrl: string;
  readonly version: string;
}

/** Returns the host in reverse order, with which names of servers begin: `com.example.knowledge`. */
function toNamespace(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  const host = hostname.replaceAll(/[^\w.-]/g, '').replaceAll('_', '-');
  return isIP(host) === 0 ? host.split('.').toReversed().join('.') : host;
}

export const toServerCard = ({ publicUrl, version }: Site) => ({
  $schema: CARD_SCHEMA,
  name: `${toNamespace(publicUrl)}/${NAME}`,
  title: TITLE,
  description: DESCRIPTION,
  version,
  remotes: [
    {
      type: 'streamable-http',
      url: publicUrl + MCP_PATH,
      supportedProtocolVersions: [MODERN_VERSION, ...LEGACY_VERSIONS],
    },
  ],
});

export const toCatalog = ({ publicUrl }: Site) => ({
  specVersion: '1.0',
  entries: [
    {
      identifier: `urn:air:${new URL(publicUrl).hostname}:mcp:${NAME}`,
      displayName: TITLE,
      type: CARD_TYPE,
      url: publicUrl + CARD_PATH,
    },
  ],
});

/** A server of the registry. */
interface RegistryServer {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The value of `X-MCP-Tools` with which a client is offered its tools alone; undefined for all tools. */
  readonly tools: string | undefined;
}

/**
 * Returns the servers that a caller sees: the tool endpoint itself, and each mounted server of which the caller has a tool.
 *
 * @param toolNames - the tools that the caller can call; none for a caller without a credential.
 */
export function listRegistryServers({ publicUrl }: Site, toolNames: readonly string[]): RegistryServer[] {
  const namespace = toNamespace(publicUrl);
  const mounted = new Set(toolNames.flatMap((name) => toServerPattern(name) ?? []));
  const own = { name: `${namespace}/${NAME}`, title: TITLE, description: DESCRIPTION, tools: undefined };
  const others = [...mounted].map((tools) => {
    const server = tools.slice(0, -'__*'.length);
    return {
      // An organisation may have mounted a server under any name, also that of the endpoint.
      name: `${namespace}/${NAME}.${server}`,
      title: server,
      description: `The tools of ${server} that your organisation has approved.`,
      tools,
    };
  });
  return [own, ...others].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the entry of a server, whose tools are all reached at the platform's endpoint, never at the server itself. */
export function toRegistryEntry({ publicUrl, version }: Site, server: RegistryServer) {
  const headers = server.tools === undefined ? undefined : [{ name: 'X-MCP-Tools', value: server.tools }];
  return {
    server: {
      $schema: ENTRY_SCHEMA,
      name: server.name,
      title: server.title,
      description: server.description,
      version,
      remotes: [{ type: 'streamable-http', url: publicUrl + MCP_PATH, ...(headers && { headers }) }],
    },
    _meta: { 'io.modelcontextprotocol.registry/official': { status: 'active', isLatest: true } },
  };
}
