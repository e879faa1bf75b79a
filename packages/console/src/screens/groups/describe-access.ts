import { groups } from '#text/groups';
import type { GroupReference } from './api.ts';

const t = groups.access;

/** Says who may use something, by the groups that it is limited to; null for everybody. */
export const describeAccess = (allowed: readonly GroupReference[] | null): string => {
  if (allowed === null) return t.everybody.label;
  return allowed.length === 0 ? t.nobody : allowed.map(({ name }) => name).join(', ');
};
