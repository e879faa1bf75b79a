import { type Clock, createIdAt, createPeriodicTask, type Logger } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { toNetwork } from '../../base/network.js';
import { insertSteps, type NewStep } from './attempts.sql.js';
import type { Step } from './steps.js';

/*
 * The journal of attempts to connect. Whoever has not signed in yet can write to it, so nothing that it keeps is free text of
 * theirs beyond a client id and a user agent, cut and cleaned; neither codes, tokens nor queries are kept. It is written in
 * batches of a fixed size. Each neighbourhood of addresses has its turn in a batch, and a short queue: a flood from one of them
 * costs the others nothing, and removes nothing that was recorded.
 */

/** Something that an attempt did. */
export interface StepReport {
  readonly step: Step;
  readonly address: string;
  readonly userAgent: string | undefined;
  readonly clientId?: string | undefined;
  /** The code of what went wrong. */
  readonly fault?: string | undefined;
  /** The member who is signed in. */
  readonly userId?: string | undefined;
}

const EVERY_MS = 1_000;
/** Of what belongs to nobody, a replica writes so many steps in a second. */
const BATCH = 10;
const MAX_QUEUED = 10;
const MAX_NEIGHBOURHOODS = 2_000;
/** Of members, who have signed in. */
const MAX_OF_MEMBERS = 500;
/** The same step is recorded once in this time. */
const REPEATED_AFTER_MS = 60_000;
const MAX_REMEMBERED = 10_000;
const MAX_CLIENT_LENGTH = 200;
const MAX_USER_AGENT_LENGTH = 100;

/** The unit of which one client controls all addresses, and by which a member finds the own attempts. */
export const toAttemptNetwork = (address: string): string => toNetwork(address, { ipv4: 32, ipv6: 64 });

/** What is given to one operator of a network: turns are counted by it. */
const toNeighbourhood = (address: string): string => toNetwork(address, { ipv4: 24, ipv6: 48 });

const clean = (text: string | undefined, length: number): string | null =>
  (text ?? '')
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, length) || null;

/** A URL without its query and fragment, which could hold anything. */
const cleanClient = (clientId: string | undefined): string | null =>
  clean(clientId?.split(/[?#]/, 1)[0], MAX_CLIENT_LENGTH);

const faultForm = /^[a-z_]{1,40}$/;

export function createAttemptJournal({
  pool,
  clock,
  log,
}: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}) {
  const queues = new Map<string, NewStep[]>();
  let ofMembers: NewStep[] = [];
  const recent = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: REPEATED_AFTER_MS });

  /** Takes one step of each neighbourhood in turn. Those that got a turn go behind the others. */
  function takeBatch(): NewStep[] {
    const batch: NewStep[] = [];
    while (batch.length < BATCH) {
      const [first] = queues;
      if (!first) break;
      const [neighbourhood, queue] = first;
      const step = queue.shift();
      queues.delete(neighbourhood);
      if (queue.length > 0) queues.set(neighbourhood, queue);
      if (step) batch.push(step);
    }
    return batch;
  }

  async function write(): Promise<void> {
    const members = ofMembers;
    ofMembers = [];
    const batch = [...members, ...takeBatch()];
    if (batch.length > 0) await insertSteps(pool, batch);
  }

  const task = createPeriodicTask({
    intervalMs: EVERY_MS,
    run: write,
    // A step that cannot be written is lost: the attempt itself goes on.
    onError: (error) => log.warn({ err: error }, 'failed to write the journal of attempts to connect'),
  });

  return {
    /** Records a step in memory. Never throws. */
    record({ step, address, userAgent, clientId, fault, userId }: StepReport): void {
      const network = toAttemptNetwork(address);
      const at = clock();
      const row: NewStep = {
        id: createIdAt(at),
        at: new Date(at),
        network,
        step,
        clientId: cleanClient(clientId),
        userAgent: clean(userAgent, MAX_USER_AGENT_LENGTH),
        fault: fault === undefined ? null : faultForm.test(fault) ? fault : 'other',
        userId: userId ?? null,
      };
      const key = [network, step, row.clientId, row.fault, row.userId].join(' ');
      if (recent.has(key)) return;
      recent.set(key, true);
      if (userId !== undefined) {
        if (ofMembers.length < MAX_OF_MEMBERS) ofMembers.push(row);
        return;
      }
      const neighbourhood = toNeighbourhood(address);
      const queue = queues.get(neighbourhood);
      if (queue) {
        if (queue.length < MAX_QUEUED) queue.push(row);
      } else if (queues.size < MAX_NEIGHBOURHOODS) queues.set(neighbourhood, [row]);
    },
    flush: (): Promise<void> => task.run(),
    start: task.start,
    async stop(): Promise<void> {
      await task.stop();
      await task.run().catch(() => undefined);
    },
  };
}

export type AttemptJournal = ReturnType<typeof createAttemptJournal>;
