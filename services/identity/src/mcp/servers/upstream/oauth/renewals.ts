import type { FetchLike } from '@modelcontextprotocol/client';
import type { Clock, Logger, SecretBox } from '@platform/service-kit';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { ownSecretContext } from '../credentials.js';
import {
  claimRenewal,
  releaseRenewal,
  storeRenewal,
  type UsableCredential,
} from '../own-credentials.queries.js';
import { ANSWER_MS, describeFault } from './fetch.js';
import { type Grant, isDue, isExpired, parseGrant } from './grant.js';

/*
 * A refresh token is often good for one use, so that of many calls one alone may renew it, in all processes. It holds a
 * lease rather than a lock: a database connection must not wait for somebody else's server.
 *
 *   due       claimed by one process until the lease ends; the others wait for its end
 *   renewed   the tokens are stored under another id, so that connections of the old ones are not used again
 *   ended     the server wants a new sign-in
 *   failed    nothing is known: whoever has tokens that still last goes on with them
 */

/** Longer than a renewal takes. */
const LEASE_MS = ANSWER_MS + 4_000;
const POLL_MS = 100;

const loadProtocol = () => import('./protocol.js');

/** What became of the tokens of an account. */
export type Renewal = 'renewed' | 'ended' | 'failed';

export function createRenewals(deps: {
  readonly pool: pg.Pool;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly fetchFn: FetchLike;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}) {
  const { pool, box, clock, fetchFn, log } = deps;
  /** By the id of the credential. */
  const renewing = new Map<string, Promise<Renewal>>();
  type Owner = { readonly serverId: string; readonly accountId: string };

  const open = ({ serverId, accountId }: Owner, sealed: string): Grant =>
    parseGrant(box.open(sealed, ownSecretContext(serverId, accountId)));

  async function renewClaimed(owner: Owner, id: string, sealed: string): Promise<Renewal> {
    try {
      const { renew, revoke } = await loadProtocol();
      const grant = await renew(open(owner, sealed), fetchFn, clock());
      if (!grant) return 'ended';
      const secretSealed = box.seal(JSON.stringify(grant), ownSecretContext(owner.serverId, owner.accountId));
      // What was deleted meanwhile stays so; what was replaced is found by the next look.
      if (!(await storeRenewal(pool, id, { id: uuidv7(), secretSealed }))) await revoke(grant, fetchFn);
      return 'renewed';
    } catch (error) {
      const fields = { ...describeFault(error), mcpServer: owner.serverId };
      log.info(fields, 'failed to renew the tokens of an account at an MCP server');
      return 'failed';
    }
  }

  async function claimAndRenew(owner: Owner, id: string): Promise<Renewal> {
    const sealed = await claimRenewal(pool, id, LEASE_MS);
    if (sealed === undefined) {
      await delay(POLL_MS);
      return 'renewed';
    }
    const renewal = await renewClaimed(owner, id, sealed);
    if (renewal !== 'renewed')
      await releaseRenewal(pool, id).catch((error: unknown) => {
        log.warn({ err: error }, 'failed to release the renewal of tokens; it ends by itself');
      });
    return renewal;
  }

  return {
    isDue: (owner: Owner, { secretSealed }: UsableCredential): boolean =>
      isDue(open(owner, secretSealed), clock()),
    isExpired: (owner: Owner, { secretSealed }: UsableCredential): boolean =>
      isExpired(open(owner, secretSealed), clock()),
    /**
     * Renews the tokens, once for all who ask at the same time.
     *
     * @returns `renewed` also when somebody else does or did it: the caller looks again.
     */
    renew(owner: Owner, { id }: UsableCredential): Promise<Renewal> {
      let current = renewing.get(id);
      if (!current) {
        current = claimAndRenew(owner, id).finally(() => renewing.delete(id));
        renewing.set(id, current);
      }
      return current;
    },
  };
}

export type Renewals = ReturnType<typeof createRenewals>;
