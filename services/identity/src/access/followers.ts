import type pg from 'pg';
import { findBreachedConnections } from '../oauth/connection-policy/service.js';
import { type AccessSubject, findSubjects } from './subjects.js';

/** How access names the credentials that subscribe to events. */
const types = { pat: 'token', oauth: 'connection' } as const;

/**
 * Finds the credentials that follow events, as their verification would find them now. A connection is one that still gets tokens:
 * its last one may be good for some minutes more.
 */
export async function findFollowers(
  pool: pg.Pool,
  {
    orgId,
    kind,
    ids,
  }: { readonly orgId: string; readonly kind: keyof typeof types; readonly ids: readonly string[] },
  { now, clientHosts }: { readonly now: number; readonly clientHosts: readonly string[] },
): Promise<AccessSubject[]> {
  const found = findSubjects(pool, orgId, types[kind], { ids }, new Date(now));
  if (kind === 'pat') return found;
  const breached = await findBreachedConnections(pool, orgId, ids, { now, clientHosts });
  return (await found).map((subject) =>
    breached.has(subject.id) ? { ...subject, isActive: false } : subject,
  );
}
