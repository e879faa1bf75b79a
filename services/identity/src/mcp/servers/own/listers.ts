import { UpstreamFault } from '../../../base/egress/faults.js';
import type { Prisma } from '../../../prisma.js';
import type { UpstreamServer } from '../upstream/connections.js';
import { isPerAccount, type Subject } from '../upstream/credentials.js';
import { findListerOf } from './queries.js';
import { findOwnCredential, type OwnCallContext } from '../upstream/own-credentials.js';

interface Lister {
  /** Undefined for the platform itself. */
  readonly subject: Subject | undefined;
  /** The administrator with whose own credential the tools are listed; null for the platform itself. */
  readonly listerId: string | null;
}

/** Finds with whose credential the tools of a server are listed. */
export function createListers({ prisma, own }: { readonly prisma: Prisma; readonly own: OwnCallContext }) {
  /** Returns an account as servers that it is connected to know it; undefined at any other. @throws UpstreamFault. */
  async function toSubject(server: UpstreamServer, userId: string): Promise<Subject | undefined> {
    const credential = isPerAccount(server) ? await findOwnCredential(own, server, userId) : undefined;
    // It lists tools for everybody: the server learns nothing but the credential.
    return credential && { userId, scopes: [], claims: {}, own: credential };
  }

  return {
    toSubject,

    /**
     * Finds who lists the tools: the platform itself, or where each account has a credential of its own, and no administrator
     * has given one for this, the first of the candidates who is an administrator with one.
     *
     * @throws UpstreamFault no_credential; what keeps the administrator's own credential from being used.
     */
    async find(server: UpstreamServer, candidates: readonly string[]): Promise<Lister> {
      const hasOwnSecret = server.credential === 'personal' && server.secretSealed !== null;
      if (!isPerAccount(server) || hasOwnSecret) return { subject: undefined, listerId: null };
      const listerId = await findListerOf(prisma, server, candidates);
      const subject = listerId === undefined ? undefined : await toSubject(server, listerId);
      if (listerId === undefined || !subject) throw new UpstreamFault('no_credential');
      return { subject, listerId };
    },
  };
}

export type Listers = ReturnType<typeof createListers>;
