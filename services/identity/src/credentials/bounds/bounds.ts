import { type AccountPrincipal, type Bounds, canUseConnector } from '@platform/auth';
import { connectors, isConnector } from '@platform/events';
import { type FaultDetail, validationError } from '@platform/service-kit';
import { Type } from 'typebox';
import { toMountedName } from '../../base/mounted-name.js';
import type { SqlClient } from '../../base/sql-client.js';
import { platformTools } from './platform-tools.js';
import { findOfferedTools, findServerNames, type OfferedTool } from './bounds.sql.js';

/*
 * What a credential is limited to, beside its scopes: a list for each kind of thing. A list that is absent limits nothing, and
 * an empty one allows nothing. [PAT-56]
 *
 * People choose and see names. Stored are the ids of mounted servers, so that a server that gets the name of another one, or
 * is mounted again, is in no bounds; a tool is stored with the id of its server.
 */

const MAX_SERVERS = 50;
const MAX_TOOLS = 100;
const MAX_NAME_LENGTH = 64;

/** Bounds as people choose them, and see them. */
export const NamedBounds = Type.Object(
  {
    servers: Type.Optional(
      Type.Array(Type.String({ maxLength: MAX_NAME_LENGTH }), {
        maxItems: MAX_SERVERS,
        description:
          "The mounted MCP servers whose tools it can use. The platform's own tools are of no server.",
      }),
    ),
    tools: Type.Optional(
      Type.Array(Type.String({ maxLength: MAX_NAME_LENGTH }), {
        maxItems: MAX_TOOLS,
        description: 'The remote tools that it can use, by the names that the tool endpoint lists.',
      }),
    ),
    connectors: Type.Optional(
      Type.Array(Type.String({ maxLength: MAX_NAME_LENGTH, 'x-documented': { enum: [...connectors] } }), {
        maxItems: connectors.length,
        description: 'The connectors that it can be used for in the crawl service.',
      }),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description:
      'What it is limited to beside its scopes, by name. An absent list: no limit; an empty one: nothing.',
  },
);
export type NamedBounds = Type.Static<typeof NamedBounds>;
const kinds = ['servers', 'tools', 'connectors'] as const satisfies (keyof NamedBounds)[];

/** Returns how bounds name a tool of a mounted server. */
export const toToolKey = (serverId: string, tool: string): string => `${serverId}/${tool}`;

/** Whoever chooses bounds: those of its own credentials, or of others as an administrator. */
interface Chooser {
  readonly orgId: string;
  /** The groups whose servers and tools can be chosen; null for those of everybody. */
  readonly groups: readonly string[] | null;
}

/** Returns a member as one who chooses what the member can use. */
export const toChooser = ({ orgId, groups = [] }: Pick<AccountPrincipal, 'orgId' | 'groups'>): Chooser => ({
  orgId,
  groups: groups.map(({ id }) => id),
});

interface Choice {
  readonly name: string;
  /** How it is stored. */
  readonly key: string;
}

const toToolChoices = (offered: readonly OfferedTool[]): Choice[] =>
  offered.flatMap(({ serverId, server, tool }) =>
    tool === null ? [] : [{ name: toMountedName(server, tool), key: toToolKey(serverId, tool) }],
  );

const toServerChoices = (offered: readonly OfferedTool[]): Choice[] => [
  ...new Map(offered.map(({ serverId, server }) => [serverId, { name: server, key: serverId }])).values(),
];

/** Returns what can be chosen, as far as the credential that chooses is not limited itself. */
export async function listBoundChoices(
  db: SqlClient,
  chooser: Chooser,
  bounds: Bounds = {},
): Promise<Required<NamedBounds>> {
  const offered = await findOfferedTools(db, chooser);
  const own = [...platformTools].map((name) => ({ name, key: name }));
  const toNames = (choices: readonly Choice[], allowed: readonly string[] | undefined) =>
    choices.filter(({ key }) => allowed?.includes(key) ?? true).map(({ name }) => name);
  return {
    servers: toNames(toServerChoices(offered), bounds.servers),
    tools: toNames([...own, ...toToolChoices(offered)], bounds.tools),
    connectors: connectors.filter((connector) => canUseConnector({ bounds }, connector)),
  };
}

const describeUnknown = {
  servers: 'is not one of the MCP servers',
  tools: 'is not one of the remote tools',
  connectors: 'is not one of the connectors of this platform',
} as const;

/**
 * Returns bounds as they are stored. A server or tool that whoever chooses could not use is as unknown as any other name.
 *
 * @throws AppError 400 that names each unknown name.
 */
export async function readBounds(db: SqlClient, chooser: Chooser, given: NamedBounds): Promise<Bounds> {
  const { servers = [], tools = [] } = given;
  const mounted = tools.filter((name) => name.includes('__')).map((name) => name.split('__', 1)[0] ?? '');
  const named = [...servers, ...mounted];
  const offered = named.length === 0 ? [] : await findOfferedTools(db, chooser, named);
  const serverIds = new Map(toServerChoices(offered).map(({ name, key }) => [name, key]));
  const toolKeys = new Map(toToolChoices(offered).map(({ name, key }) => [name, key]));
  const find = {
    servers: (name: string) => serverIds.get(name),
    tools: (name: string) => (platformTools.has(name) ? name : toolKeys.get(name)),
    connectors: (name: string) => (isConnector(name) ? name : undefined),
  };
  const faults: FaultDetail[] = [];
  const bounds: { -readonly [Kind in keyof Bounds]: string[] } = {};
  for (const kind of kinds) {
    const names = given[kind];
    if (!names) continue;
    const keys = new Set<string>();
    for (const [index, name] of names.entries()) {
      const key = find[kind](name);
      if (key === undefined)
        faults.push({ field: `bounds.${kind}.${index}`, message: describeUnknown[kind] });
      else keys.add(key);
    }
    bounds[kind] = [...keys];
  }
  if (faults.length > 0) throw validationError(faults);
  return bounds;
}

/**
 * Returns the bounds of a token that another one creates: those of its creator, as far as the new one has no narrower ones.
 *
 * @throws AppError 400 for what the creator cannot be used for.
 */
export function narrowBounds(wanted: Bounds, creator: Bounds): Bounds {
  for (const kind of kinds) {
    const allowed = creator[kind];
    if (allowed !== undefined && wanted[kind]?.every((key) => allowed.includes(key)) === false)
      throw validationError([
        { field: `bounds.${kind}`, message: 'must lie within the bounds of the token that creates this one' },
      ]);
  }
  return { ...creator, ...wanted };
}

/** Returns the bounds as they are stored; null for none. */
export const toStoredBounds = (bounds: Bounds): Bounds | null =>
  Object.keys(bounds).length > 0 ? bounds : null;

/** Returns how stored bounds are shown: by present names, without what has been removed since. */
export type DescribeBounds = (bounds: Bounds | null) => NamedBounds | null;

const toServerIds = ({ servers = [], tools = [] }: Bounds): string[] => [
  ...servers,
  ...tools.flatMap((key) => (key.includes('/') ? [key.split('/', 1)[0] ?? ''] : [])),
];

/** Finds the names of what is in the bounds of credentials of the organisation. */
export async function createDescribeBounds(
  db: SqlClient,
  orgId: string,
  limited: readonly { readonly bounds: Bounds | null }[],
): Promise<DescribeBounds> {
  const ids = new Set(limited.flatMap(({ bounds }) => (bounds ? toServerIds(bounds) : [])));
  const names = await findServerNames(db, orgId, [...ids]);
  const describeTool = (key: string): string[] => {
    // The name of a tool can have more of them.
    const end = key.indexOf('/');
    if (end === -1) return [key];
    const server = names.get(key.slice(0, end));
    return server === undefined ? [] : [toMountedName(server, key.slice(end + 1))];
  };
  return (bounds) =>
    bounds && {
      ...(bounds.servers && { servers: bounds.servers.flatMap((id) => names.get(id) ?? []) }),
      ...(bounds.tools && { tools: bounds.tools.flatMap(describeTool) }),
      ...(bounds.connectors && { connectors: bounds.connectors }),
    };
}
