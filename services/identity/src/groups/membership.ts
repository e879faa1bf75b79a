import type { NewAuditEntry } from '../audit/record.sql.js';
import type { GroupRow } from './queries.js';

/** The most groups of an organisation, of both sources. */
export const MAX_GROUPS = 5_000;
/** The most groups that an account is in, of both sources. */
export const MAX_MEMBERSHIPS = 200;

/** Returns the entries about accounts that came into a group, or left it. */
export const toMembershipEntries = (
  action: 'group.member_added' | 'group.member_removed',
  { id, name }: Pick<GroupRow, 'id' | 'name'>,
  memberIds: readonly string[],
  act: Pick<NewAuditEntry, 'orgId' | 'actor' | 'at' | 'reason'>,
): NewAuditEntry[] =>
  memberIds.map((subjectId) => ({ ...act, action, subjectId, detail: { groupId: id, group: name } }));
