import type { FetchLike } from '@modelcontextprotocol/client';
import { type Clock, createPermits, type Logger, type SecretBox } from '@platform/service-kit';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Circuits } from '../circuit.js';
import { ownSecretContext } from '../credentials.js';
import {
  claimRenewal,
  endCredential,
  releaseRenewal,
  storeRenewal,
  type UsableCredential,
} from '../own-credentials.sql.js';
import { ANSWER_MS, describeFault } from './fetch.js';
import { endGrant, type Grant, hasEnded, isDue, isExpired, parseGrant } from './grant.js';
import type { Revocations } from './revocations.job.js';

/*
 * A refresh token is often good for one use, so that of many calls one alone may renew it, in all processes. It holds a
 * lease rather than a lock: a database connection must not wait for somebody else's server.
 *
 *   due       claimed by one process until the lease ends; the others wait for its end
 *   renewed   the tokens are stored under another id, so that connections of the old ones are not used again
 *   ended     the server wants a new sign-in
 *   failed    nothing is known: whoever has tokens that still last goes on with them
 *
 * An authorization server that is slow or down holds no more calls than half of what its MCP server can have, so that accounts
 * whose tokens last are served; once it has failed in a row, it is asked now and then only.
 */

/** A renewal that has not begun by then is left to the next one, so that it ends within its lease. */
const BEGUN_WITHIN_MS = 3_000;
/** Longer than a renewal takes, with what is stored after it. */
export const LEASE_MS = BEGUN_WITHIN_MS + ANSWER_MS + 4_000;
const POLL_MS = 100;

const loadProtocol = () => import('./protocol.js');

/** What became of the tokens of an account. */
export type Renewal = 'renewed' | 'ended' | 'failed';

export function createRenewals(deps: {
  readonly pool: pg.Pool;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly fetchFn: FetchLike;
  /** Of the authorization servers, by the server whose tokens they issue. */
  readonly circuits: Circuits;
  readonly revocations: Pick<Revocations, 'add'>;
  /** Calls that wait for renewals at the same time, of all servers and of one. */
  readonly maxWaiting: { readonly total: number; readonly perKey: number };
  readonly log: Pick<Logger, 'info' | 'warn'>;
}) {
  const { pool, box, clock, fetchFn, circuits, revocations, log } = deps;
  const waiting = createPermits(deps.maxWaiting);
  /** By the id of the credential. */
  const renewing = new Map<string, Promise<Renewal>>();
  type Owner = { readonly serverId: string; readonly accountId: string };

  const open = ({ serverId, accountId }: Owner, sealed: string): Grant =>
    parseGrant(box.open(sealed, ownSecretContext(serverId, accountId)));

  /** Asks the authorization server. @returns undefined when the person has to sign in again. */
  async function request(serverId: string, grant: Grant): Promise<Grant | undefined> {
    const { isUnavailable, renew } = await loadProtocol();
    try {
      const renewed = await renew(grant, fetchFn, clock());
      circuits.succeed(serverId);
      return renewed;
    } catch (error) {
      if (isUnavailable(error)) circuits.fail(serverId);
      else circuits.succeed(serverId);
      throw error;
    }
  }

  async function renewClaimed(owner: Owner, id: string, sealed: string): Promise<Renewal> {
    const { serverId, accountId } = owner;
    try {
      const before = open(owner, sealed);
      const grant = await request(serverId, before);
      const toSealed = (of: Grant): string =>
        box.seal(JSON.stringify(of), ownSecretContext(serverId, accountId));
      if (!grant) {
        // What renews nothing is not kept, so that nobody is asked again.
        await endCredential(pool, id, toSealed(endGrant(before)));
        return 'ended';
      }
      const secretSealed = toSealed(grant);
      // What was deleted meanwhile stays so; what was replaced is found by the next look.
      if (!(await storeRenewal(pool, id, { id: uuidv7(), secretSealed })))
        await revocations.add(owner, grant);
      return 'renewed';
    } catch (error) {
      const fields = { ...describeFault(error), mcpServer: serverId };
      log.info(fields, 'failed to renew the tokens of an account at an MCP server');
      return 'failed';
    }
  }

  async function renewOnce(owner: Owner, id: string): Promise<Renewal> {
    const startedAt = performance.now();
    const sealed = await claimRenewal(pool, id, LEASE_MS);
    if (sealed === undefined) {
      await delay(POLL_MS);
      return 'renewed';
    }
    const isLate = performance.now() - startedAt > BEGUN_WITHIN_MS;
    const renewal = isLate ? 'failed' : await renewClaimed(owner, id, sealed);
    if (renewal === 'renewed') return renewal;
    const isSame = await releaseRenewal(pool, id).catch((error: unknown) => {
      log.warn({ err: error }, 'failed to release the renewal of tokens; it ends by itself');
      return true;
    });
    // Whoever has replaced them meanwhile has others.
    return isSame ? renewal : 'renewed';
  }

  async function renewThroughCircuit(owner: Owner, id: string): Promise<Renewal> {
    // Loaded before the lease begins.
    await loadProtocol();
    if (circuits.tryEnter(owner.serverId) !== undefined) return 'failed';
    try {
      return await renewOnce(owner, id);
    } finally {
      // What was not asked proves nothing.
      circuits.leave(owner.serverId);
    }
  }

  return {
    isDue: (owner: Owner, { secretSealed }: UsableCredential): boolean =>
      isDue(open(owner, secretSealed), clock()),
    isExpired: (owner: Owner, { secretSealed }: UsableCredential): boolean =>
      isExpired(open(owner, secretSealed), clock()),
    hasEnded: (owner: Owner, { secretSealed }: UsableCredential): boolean =>
      hasEnded(open(owner, secretSealed), clock()),
    /**
     * Renews the tokens, once for all who ask at the same time.
     *
     * @returns `renewed` also when somebody else does or did it: the caller looks again.
     */
    async renew(owner: Owner, { id }: UsableCredential): Promise<Renewal> {
      const { serverId } = owner;
      if (!waiting.tryAcquire(serverId)) return 'failed';
      try {
        let current = renewing.get(id);
        if (!current) {
          current = renewThroughCircuit(owner, id).finally(() => renewing.delete(id));
          renewing.set(id, current);
        }
        return await current;
      } finally {
        waiting.release(serverId);
      }
    },
  };
}

export type Renewals = ReturnType<typeof createRenewals>;
