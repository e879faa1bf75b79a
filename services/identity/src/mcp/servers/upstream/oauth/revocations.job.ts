import type { FetchLike } from '@modelcontextprotocol/client';
import {
  backoffMs,
  type Clock,
  createPeriodicTask,
  DAY_MS,
  HOUR_MS,
  type Logger,
  type SecretBox,
} from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Circuits } from '../circuit.js';
import { ownSecretContext } from '../credentials.js';
import { describeFault } from './fetch.js';
import { type Grant, parseGrant } from './grant.js';
import {
  claimRevocations,
  deleteRevocation,
  insertRevocation,
  postponeRevocation,
  type Revocation,
} from './revocations.sql.js';

/*
 * Tokens that have ended here are good at their authorization server until they are revoked there (RFC 7009). What ends them hands
 * them over in its transaction, still sealed:
 *
 *   due        nextAttemptAt has passed
 *   claimed    nextAttemptAt is LEASE_MS ahead; the claiming replica is asking
 *   deleted    the authorization server has answered, lets nobody revoke, or was unavailable for KEPT_MS
 *   postponed  due again after a back-off
 */

const POLL_MS = 2_000;
/** Longer than the request takes. */
const LEASE_MS = 60_000;
const MAX_AT_ONCE = 8;
/** Refresh tokens that nobody uses expire by themselves: there is no point in asking for ever. */
const KEPT_MS = DAY_MS;
const PAUSES = { firstMs: 10_000, maxMs: HOUR_MS } as const;

const loadProtocol = () => import('./protocol.js');

export function createRevocations(deps: {
  readonly pool: pg.Pool;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly fetchFn: FetchLike;
  /** Of the authorization servers, by the server whose tokens they issue. */
  readonly circuits: Circuits;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}) {
  const { pool, box, clock, fetchFn, circuits, log } = deps;

  async function request(serverId: string, grant: Grant): Promise<void> {
    const { revoke } = await loadProtocol();
    try {
      const isRevoked = await revoke(grant, fetchFn);
      circuits.succeed(serverId);
      if (!isRevoked)
        log.warn(
          { mcpServer: serverId },
          'an MCP server refuses to revoke tokens; they end when they expire',
        );
    } catch (error) {
      circuits.fail(serverId);
      throw error;
    }
  }

  /** Asks the authorization server. @returns whether nothing is left to do. */
  async function attempt({ serverId, accountId, secretSealed }: Revocation): Promise<boolean> {
    try {
      const grant = parseGrant(box.open(secretSealed, ownSecretContext(serverId, accountId)));
      if (circuits.tryEnter(serverId) !== undefined) return false;
      await request(serverId, grant);
      return true;
    } catch (error) {
      log.info({ ...describeFault(error), mcpServer: serverId }, 'failed to revoke tokens of an MCP server');
      return false;
    }
  }

  async function revokeClaimed(revocation: Revocation): Promise<void> {
    const { id, serverId: mcpServer, endedAt, attempts } = revocation;
    if (await attempt(revocation)) return void (await deleteRevocation(pool, id));
    const now = clock();
    if (now - endedAt.getTime() < KEPT_MS)
      return void (await postponeRevocation(pool, id, new Date(now + backoffMs(attempts, PAUSES))));
    await deleteRevocation(pool, id);
    log.warn({ mcpServer, attempts }, 'gave up revoking tokens of an MCP server; they end when they expire');
  }

  const task = createPeriodicTask({
    intervalMs: POLL_MS,
    async run(stopping) {
      for (let count = MAX_AT_ONCE; count === MAX_AT_ONCE && !stopping.aborted;) {
        const now = clock();
        const claimed = await claimRevocations(pool, {
          now: new Date(now),
          leasedUntil: new Date(now + LEASE_MS),
          limit: MAX_AT_ONCE,
        });
        await Promise.all(claimed.map(revokeClaimed));
        count = claimed.length;
      }
    },
    onError: (error) => {
      log.warn({ err: error }, 'failed to look for tokens to revoke; retrying');
    },
  });

  return {
    start: task.start,
    stop: task.stop,
    wake: task.wake,
    /** Has tokens revoked that were issued, but are not stored. */
    async add(
      { serverId, accountId }: Pick<Revocation, 'serverId' | 'accountId'>,
      grant: Grant,
    ): Promise<void> {
      const secretSealed = box.seal(JSON.stringify(grant), ownSecretContext(serverId, accountId));
      const endedAt = new Date(clock());
      await insertRevocation(pool, { id: uuidv7(), serverId, accountId, secretSealed, endedAt });
      task.wake();
    },
  };
}

export type Revocations = ReturnType<typeof createRevocations>;
