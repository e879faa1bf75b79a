import { knowledge as t } from '#text/knowledge';
import type { Source } from './api.ts';

/** Says who can search a source. */
export function describeReaders({ readers: { everyone, groups } }: Source): string {
  if (groups.length === 0) return everyone ? t.readers.everyone : t.readers.nobody;
  return everyone ? t.readers.everyoneAndGroups(groups) : t.readers.groups(groups);
}
