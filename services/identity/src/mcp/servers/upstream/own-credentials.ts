import type { AccountPrincipal } from '@platform/auth';
import { ServiceFault } from '@platform/clients';
import { type Clock, dependencyUnavailable } from '@platform/service-kit';
import type pg from 'pg';
import { insertAuditEntry } from '../../../audit/queries.js';
import { platformActor } from '../../../base/caller/actor.js';
import type { UpstreamFault } from '../../../base/egress/faults.js';
import type { Prisma } from '../../../resources.js';
import { LinkRequired } from '../../endpoint/link-required.js';
import type { UpstreamServer } from './connections.js';
import { findUsable, recordRefusal, recordUse, type UsableCredential } from './own-credentials.queries.js';

/** A use is recorded once in this time, so that calls don't write. */
const USE_RECORDED_EVERY_MS = 60_000;
const UNAUTHORIZED = 401;

type Account = Pick<AccountPrincipal, 'userId' | 'isServiceAccount'>;

function failUnavailable(error: unknown): never {
  throw dependencyUnavailable('database', error);
}

/** Finds the credentials with which accounts call servers as themselves, and records what became of them. */
export function createOwnCredentials(deps: {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly clock: Clock;
  /** Where people connect to servers. */
  readonly consoleUrl: string;
}) {
  const { pool, prisma, clock, consoleUrl } = deps;

  /** Says what has to be done, and by whom: a service account opens no page. */
  function toFault(
    { id, name }: UpstreamServer,
    { isServiceAccount = false }: Account,
    { member, serviceAccount }: Readonly<Record<'member' | 'serviceAccount', string>>,
    cause?: unknown,
  ): ServiceFault {
    if (!isServiceAccount) {
      const reason = `The server ${name} ${member}; nothing was done.`;
      return new LinkRequired({ service: name, reason, url: `${consoleUrl}/account/services/${id}`, cause });
    }
    const message = `The server ${name} ${serviceAccount}; nothing was done. An administrator can give it one.`;
    return new ServiceFault({ kind: 'refused', service: name, message, cause });
  }

  return {
    /**
     * Finds the credential for a call. It is read for each call, so that a change is in force with the next one.
     *
     * @throws ServiceFault without one, or when the server is being changed.
     */
    async require(server: UpstreamServer, account: Account): Promise<UsableCredential> {
      const { name } = server;
      const { isOther, credential } = await findUsable(pool, server, account.userId).catch(failUnavailable);
      if (isOther) {
        const message = `The server ${name} has just been changed; nothing was done. Try again.`;
        throw new ServiceFault({ kind: 'busy', service: name, message });
      }
      if (credential) return credential;
      throw toFault(server, account, {
        member: 'is used with an account of your own there, which you have not connected yet',
        serviceAccount:
          'is used with a credential of its own for each account, and this service account has none',
      });
    },

    /** Finds the credential with which an account lists the tools; undefined without one. */
    async find(server: UpstreamServer, accountId: string): Promise<UsableCredential | undefined> {
      return (await findUsable(pool, server, accountId).catch(failUnavailable)).credential;
    },

    async accepted({ id, lastUsedAt, refusedAt }: UsableCredential): Promise<void> {
      const now = clock();
      const isRecorded = lastUsedAt !== null && now - lastUsedAt.getTime() < USE_RECORDED_EVERY_MS;
      // The call was made, whether or not this can be recorded.
      if (!isRecorded || refusedAt !== null) await recordUse(pool, id, new Date(now)).catch(() => undefined);
    },

    /**
     * Records that a server refuses the credential.
     *
     * @returns what has to be done; undefined when the fault is another.
     */
    async refused(
      server: UpstreamServer,
      account: Account,
      { id }: UsableCredential,
      fault: UpstreamFault,
    ): Promise<ServiceFault | undefined> {
      if (fault.kind !== 'unauthorized' || fault.code !== UNAUTHORIZED) return undefined;
      const { id: serverId, orgId, name } = server;
      const at = new Date(clock());
      await prisma
        .$transaction(async (tx) => {
          if (!(await recordRefusal(tx, id, at))) return;
          const detail = { server: name, serverId };
          // oxfmt-ignore
          await insertAuditEntry(tx, { orgId, action: 'mcp_credential.refused', actor: platformActor, subjectId: account.userId, detail, at });
        })
        // The next call finds it out again.
        .catch(() => undefined);
      const texts = {
        member: 'does not accept your account there any more',
        serviceAccount: 'does not accept the credential of this service account any more',
      };
      return toFault(server, account, texts, fault);
    },
  };
}

export type OwnCredentials = ReturnType<typeof createOwnCredentials>;
