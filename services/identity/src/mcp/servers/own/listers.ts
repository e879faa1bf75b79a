import { UpstreamFault } from '../../../base/egress/faults.js';
import type { UpstreamServer } from '../upstream/connections.js';
import { isPerAccount, type Subject } from '../upstream/credentials.js';
import { findListerOf } from './queries.js';
import { findOwnCredential, type OwnCredentialContext } from '../upstream/own-credentials.js';

/** With whose credential the tools of a server are listed. */
interface Lister {
  /** Undefined for the platform itself. */
  readonly subject: Subject | undefined;
  /** The administrator with whose own credential the tools are listed; null for the platform itself. */
  readonly listerId: string | null;
}

/** Returns an account as servers that it is connected to know it; undefined at any other. @throws UpstreamFault. */
export async function toListingSubject(
  ctx: OwnCredentialContext,
  server: UpstreamServer,
  userId: string,
): Promise<Subject | undefined> {
  const credential = isPerAccount(server) ? await findOwnCredential(ctx, server, userId) : undefined;
  // It lists tools for everybody: the server learns nothing but the credential.
  return credential && { userId, scopes: [], claims: {}, own: credential };
}

/**
 * Finds who lists the tools: the platform itself, or where each account has a credential of its own, and no administrator
 * has given one for this, the first of the candidates who is an administrator with one.
 *
 * @throws UpstreamFault no_credential; what keeps the administrator's own credential from being used.
 */
export async function findLister(
  ctx: OwnCredentialContext,
  server: UpstreamServer,
  candidates: readonly string[],
): Promise<Lister> {
  const hasOwnSecret = server.credential === 'personal' && server.secretSealed !== null;
  if (!isPerAccount(server) || hasOwnSecret) return { subject: undefined, listerId: null };
  const listerId = await findListerOf(ctx.prisma, server, candidates);
  const subject = listerId === undefined ? undefined : await toListingSubject(ctx, server, listerId);
  if (listerId === undefined || !subject) throw new UpstreamFault('no_credential');
  return { subject, listerId };
}
