import { dependencyUnavailable } from '@platform/service-kit';
import type pg from 'pg';

/*
 * What a server is told of the caller beside the id and the scopes, when an administrator has chosen so: an address is
 * personal data. [MCP-39]
 */

export const claimNames = ['email', 'groups'] as const;
export type ClaimName = (typeof claimNames)[number];
export const groupValues = ['name', 'externalId'] as const;
export type GroupValue = (typeof groupValues)[number];

export interface RequestedClaims {
  /** {@link ClaimName}s. */
  readonly claims: readonly string[];
  /** A {@link GroupValue}; null while groups are not among the claims. */
  readonly groupValues: string | null;
}

/** The claims of a JWT. */
export interface PersonClaims {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly groups?: readonly string[];
  readonly groups_overage?: true;
}

export type FindClaims = (
  server: RequestedClaims & { readonly orgId: string },
  person: { readonly userId: string; readonly groups: ReadonlySet<string> },
) => Promise<PersonClaims>;

/** More groups, or a longer list of them as JSON, do not fit into a header. */
const MAX_GROUPS = 200;
const MAX_GROUP_BYTES = 8_192;

/** Returns the groups of the caller; beyond the limits only that there are more. [MCP-41] */
export function toGroupClaims(groups: readonly string[]): Pick<PersonClaims, 'groups' | 'groups_overage'> {
  const fits = groups.length <= MAX_GROUPS && Buffer.byteLength(JSON.stringify(groups)) <= MAX_GROUP_BYTES;
  return fits ? { groups } : { groups_overage: true };
}

/*
 * The groups are those with which the tool was found, so that the server sees no other moment than the check of its own
 * groups. A service account has no address, and the organisation's provider vouches for the one of a linked member.
 */
const findPerson = `
  select u.email, l.user_id is not null as "isVerified",
    array(
      select distinct case $4 when 'name' then name else external_id end as value from groups
      where org_id = $2 and id = any($3::uuid[]) and ($4 = 'name' or external_id is not null) order by value
    ) as groups
  from (values ($1::uuid)) as asked (id)
    left join users u on u.id = asked.id and u.org_id = $2 and u.removed_at is null
    left join provider_links l on l.user_id = u.id`;

interface Person {
  readonly email: string | null;
  readonly isVerified: boolean;
  readonly groups: readonly string[];
}

/** @returns a function that reads nothing for a server that is told of nobody. */
export const createFindClaims =
  (pool: pg.Pool): FindClaims =>
  async ({ orgId, claims, groupValues: values }, { userId, groups }) => {
    if (claims.length === 0) return {};
    const { rows } = await pool
      .query<Person>({
        name: 'person_claims',
        text: findPerson,
        values: [userId, orgId, values === null ? [] : [...groups], values ?? 'name'],
      })
      .catch((error: unknown) => {
        throw dependencyUnavailable('database', error);
      });
    const { email = null, isVerified = false, groups: named = [] } = rows[0] ?? {};
    return {
      ...(claims.includes('email') && email !== null && { email, email_verified: isVerified }),
      ...(values !== null && toGroupClaims(named)),
    };
  };
