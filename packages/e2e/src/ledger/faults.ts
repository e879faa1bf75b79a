import { setTimeout as delay } from 'node:timers/promises';
import type { CallRecord } from './calls.js';
import type { Rig } from './rig.js';

const AWAY_MS = 4_000;

export interface Fault {
  readonly name: string;
  /** Brings the fault about, and mends it. */
  run(): Promise<void>;
}

export interface PastFault {
  readonly name: string;
  readonly startedAt: number;
  readonly mendedAt: number;
}

/**
 * Lists every fault once, those of different kinds first: each process is killed, each store is killed and stopped, Redis
 * fails over, the SMTP server is stopped.
 */
export function planFaults({ processes, stores, smtp, failOverRedis }: Rig): readonly Fault[] {
  const killProcess = (index: string) =>
    processes
      .filter(({ name }) => name.endsWith(index))
      .map(({ name, killOnce }) => ({ name: `kill -9 ${name}`, run: killOnce }));
  const take = (how: 'stop' | 'kill') =>
    Object.entries(stores).map(([name, store]) => ({
      name: how === 'stop' ? `${name} stopped` : `kill -9 ${name}`,
      async run() {
        await store[how]();
        await delay(AWAY_MS);
        await store.start();
      },
    }));
  const smtpAway = {
    name: 'SMTP server stopped',
    async run() {
      await smtp.goAway();
      await delay(AWAY_MS);
      await smtp.comeBack();
    },
  };
  const redisFailsOver = {
    name: 'Redis failed over',
    run: async () => void (await failOverRedis()),
  };
  return [
    ...interleave(killProcess('1'), [redisFailsOver, ...take('kill')]),
    ...interleave(killProcess('2'), [...take('stop'), smtpAway]),
  ];
}

/** Takes from both lists in turn. */
function interleave<Item>(first: readonly Item[], second: readonly Item[]): Item[] {
  return first.flatMap((item, index) => [item, ...second.slice(index, index + 1)]);
}

/** Runs the faults one after the other, the next one when its time has come and the one before is mended. */
export async function runFaults(
  faults: readonly Fault[],
  { everyMs, untilMs }: { readonly everyMs: number; readonly untilMs: number },
  onFault: (fault: PastFault) => void,
): Promise<readonly PastFault[]> {
  const past: PastFault[] = [];
  for (let index = 0; Date.now() + everyMs <= untilMs; index += 1) {
    const fault = faults[index % faults.length];
    if (fault === undefined) break;
    const { name, run } = fault;
    const startedAt = Date.now();
    await run();
    const mended = { name, startedAt, mendedAt: Date.now() };
    past.push(mended);
    onFault(mended);
    await delay(Math.max(0, startedAt + everyMs - Date.now()));
  }
  await delay(Math.max(0, untilMs - Date.now()));
  return past;
}

export interface Recovery {
  readonly fault: string;
  /** From the fault until the store or the process is back. */
  readonly awayMs: number;
  readonly failed: number;
  /** From the fault until the last kind of request succeeds again; 0 when none has failed, undefined when one never did. */
  readonly recoveredMs: number | undefined;
}

const isFailure = ({ status }: CallRecord): boolean => status === 0 || status >= 500;

/** Measures, for each fault, how long requests failed until the next one. */
export function measureRecovery(faults: readonly PastFault[], records: readonly CallRecord[]): Recovery[] {
  return faults.map(({ name, startedAt, mendedAt }, index) => {
    const until = faults[index + 1]?.startedAt ?? Infinity;
    const failed = records.filter(
      (record) => isFailure(record) && record.endedAt >= startedAt && record.startedAt < until,
    );
    const backAt = [...new Set(failed.map(({ kind }) => kind))].map((kind) => {
      const last = Math.max(...failed.filter((one) => one.kind === kind).map((one) => one.startedAt));
      const after = records.filter((one) => one.kind === kind && one.startedAt > last && !isFailure(one));
      return after.length === 0 ? undefined : Math.min(...after.map(({ endedAt }) => endedAt));
    });
    const isBack = backAt.every((at): at is number => at !== undefined);
    return {
      fault: name,
      awayMs: mendedAt - startedAt,
      failed: failed.length,
      recoveredMs: isBack ? Math.max(0, ...backAt.map((at) => at - startedAt)) : undefined,
    };
  });
}
