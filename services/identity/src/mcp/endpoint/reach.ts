/** The limits of a tool to groups. */
export interface Audiences {
  /** Lists of groups, of each of which the caller must be in one; absent for everybody. An empty list is for nobody. */
  readonly audiences?: readonly (readonly string[])[];
}

/**
 * The tools that a caller reaches, beside what scopes and role allow. A tool out of reach is answered as one that does not
 * exist. [MCP-31]
 */
export interface Reach {
  /** The ids of the groups that the caller is in. */
  readonly groups: ReadonlySet<string>;
}

/** Returns whether the tool is for everybody, or for a group that the caller is in. */
export const canReach = ({ audiences = [] }: Audiences, { groups }: Reach): boolean =>
  audiences.every((audience) => audience.some((group) => groups.has(group)));

/** Returns what decides of the reach of entries: the callers for whom it is the same see the same of them. */
export function createReachKey(entries: readonly Audiences[]): (reach: Reach) => string {
  const named = [...new Set(entries.flatMap(({ audiences = [] }) => audiences.flat()))].toSorted();
  return ({ groups }) => named.filter((group) => groups.has(group)).join(' ');
}
