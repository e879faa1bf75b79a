import { readJsonMembers } from '@platform/service-kit';

/** The prefix of the platform's own keys in `_meta`: nobody else can set them. */
const OWN_PREFIX = 'workspace-knowledge-platform/';
/** Prefixes whose second label is `modelcontextprotocol` or `mcp` are MCP's (basic/index, `_meta`): they are between two neighbours. */
const RESERVED_PREFIX = /^[^./]+\.(?:modelcontextprotocol|mcp)(?:\.[^/]*)?\//i;
/** Keys of MCP without a prefix, and those of W3C Trace Context, which the platform continues itself. */
const RESERVED = new Set(['progressToken', 'traceparent', 'tracestate', 'baggage']);
/** Names that say that they hold a credential, in small letters and without separators. */
// oxfmt-ignore
const CREDENTIALS = new Set([
  'authorization', 'proxyauthorization', 'cookie', 'setcookie', 'accesstoken', 'idtoken', 'refreshtoken', 'bearertoken',
  'apikey', 'xapikey', 'password', 'secret', 'clientsecret', 'credential', 'credentials',
]);
/** They name resources, such as the user interface of a tool, which are not passed on. */
const RESOURCE_KEY = /^(?:ui(?:\/.*)?|openai\/outputTemplate)$/;

/** Returns whether the member of a `_meta` is passed on between a caller and a server, in either direction. [MCP-26] */
export const isRelayedKey = (key: string): boolean =>
  !key.startsWith(OWN_PREFIX) &&
  !RESERVED_PREFIX.test(key) &&
  !RESERVED.has(key) &&
  !RESOURCE_KEY.test(key) &&
  !CREDENTIALS.has(
    key
      .slice(key.lastIndexOf('/') + 1)
      .replaceAll(/[-_]/g, '')
      .toLowerCase(),
  );

/**
 * Returns the members of a `_meta` that are passed on, as JSON.
 *
 * @param meta - the text of the object; anything else has no members.
 */
export const readRelayedMeta = (meta: string | undefined): Map<string, string> =>
  new Map([...readJsonMembers(meta ?? '{}')].filter(([key]) => isRelayedKey(key)));
