import type { Bounds } from '@platform/auth';

/** What decides who reaches a tool. */
export interface Reachable {
  /** How the bounds of credentials name it. */
  readonly key: string;
  /** The mounted server that it is of; absent for a tool of the platform. */
  readonly serverId?: string;
  /** Lists of groups, of each of which the caller must be in one; absent for everybody. An empty list is for nobody. */
  readonly audiences?: readonly (readonly string[])[];
}

/**
 * The tools that a caller reaches, beside what scopes and role allow. A tool out of reach is answered as one that does not
 * exist. [MCP-31, MCP-45]
 */
export interface Reach {
  /** The ids of the groups that the caller is in. */
  readonly groups: ReadonlySet<string>;
  /** What the credential is limited to; undefined for nothing. */
  readonly bounds: Bounds | undefined;
}

/** Returns whether the bounds allow the tool. */
export const isWithinBounds = ({ key, serverId }: Reachable, { servers, tools }: Bounds): boolean =>
  (tools === undefined || tools.includes(key)) &&
  (servers === undefined || serverId === undefined || servers.includes(serverId));

/** Returns whether the tool is within the bounds, and for everybody or for a group that the caller is in. */
export const canReach = (entry: Reachable, { groups, bounds }: Reach): boolean =>
  (bounds === undefined || isWithinBounds(entry, bounds)) &&
  (entry.audiences === undefined ||
    entry.audiences.every((audience) => audience.some((group) => groups.has(group))));

/** Returns what decides of the reach of entries: the callers for whom it is the same see the same of them. */
export function createReachKey(entries: readonly Reachable[]): (reach: Reach) => string {
  const named = [...new Set(entries.flatMap(({ audiences = [] }) => audiences.flat()))].toSorted();
  return ({ groups, bounds }) => {
    const key = named.filter((group) => groups.has(group)).join(' ');
    return bounds === undefined ? key : `${key}|${JSON.stringify([bounds.servers, bounds.tools])}`;
  };
}
