import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describeFault, type FaultKind, type PlannedFault } from './plan.js';
import type { Proxy } from './proxy.js';
import type { Rig } from './rig.js';

const SECOND = 1_000;
const CUT_EVERY_MS = 1_000;
const CLOCK_OFFSET_SECONDS = 300;
/** A write to it fails as one to a full disk does: ENOSPC. */
const FULL_DISK = '/dev/full';

/** A fault that has been mended. */
export interface PastFault extends PlannedFault {
  readonly startedAt: number;
  readonly mendedAt: number;
}

/** Brings a fault about, and mends it. */
type Run = (rig: Rig, fault: PlannedFault) => Promise<void>;

const lasting = ({ seconds }: PlannedFault): Promise<void> => delay(seconds * SECOND);

const stopStore =
  (how: 'stop' | 'kill'): Run =>
  async (rig, fault) => {
    const store = await rig.findStore(fault.target);
    await store[how]();
    await lasting(fault);
    await store.start();
  };

/** A process has another clock only from its start. */
const setClock =
  (seconds: number): Run =>
  async (rig, fault) => {
    const process = rig.findProcess(fault.target);
    await process.restart({
      LD_PRELOAD: findFakeTime(),
      FAKETIME: `${seconds > 0 ? '+' : ''}${seconds}`,
      // Timers go on as they are.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    });
    await lasting(fault);
    await process.restart({ LD_PRELOAD: undefined, FAKETIME: undefined });
  };

const disturb =
  (begin: (proxy: Proxy, fault: PlannedFault) => void): Run =>
  async (rig, fault) => {
    const proxies = await rig.findLinks(fault.target);
    for (const proxy of proxies) begin(proxy, fault);
    await lasting(fault);
    for (const proxy of proxies) proxy.mend();
  };

const RUNS: Readonly<Record<FaultKind, Run>> = {
  kill: (rig, { target }) => rig.findProcess(target).restart(),
  async pause(rig, fault) {
    const process = rig.findProcess(fault.target);
    process.pause();
    await lasting(fault);
    process.resume();
  },
  'clock ahead': setClock(CLOCK_OFFSET_SECONDS),
  'clock behind': setClock(-CLOCK_OFFSET_SECONDS),
  async 'disk full'(rig, fault) {
    const process = rig.findProcess(fault.target);
    // It logs each request, and can't write that.
    await process.restart({ LOG_LEVEL: 'debug' }, FULL_DISK);
    await lasting(fault);
    await process.restart({ LOG_LEVEL: 'warn' });
  },
  'kill store': stopStore('kill'),
  'stop store': stopStore('stop'),
  'fail over': (rig) => rig.failOverRedis(),
  async 'stop SMTP'(rig, fault) {
    await rig.smtp.goAway();
    await lasting(fault);
    await rig.smtp.comeBack();
  },
  slow: disturb((proxy, { delayMs = 0 }) => proxy.slowDown(delayMs)),
  async cut(rig, fault) {
    const proxies = await rig.findLinks(fault.target);
    const until = Date.now() + fault.seconds * SECOND;
    do {
      for (const proxy of proxies) proxy.cut();
      await delay(CUT_EVERY_MS);
    } while (Date.now() < until);
  },
  'half-open': disturb((proxy) => proxy.halfOpen()),
};

/** Returns the path of libfaketime. @throws Error when it isn't installed. */
function findFakeTime(): string {
  const found = readdirSync('/usr/lib')
    .map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`)
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error('There is no libfaketime: install the package faketime');
  return found;
}

export interface FaultTimes {
  /** When the workload has started. */
  readonly startedAt: number;
  /** No fault begins later. */
  readonly untilMs: number;
  /** The pause after each fault. */
  readonly calmSeconds: number;
}

/** Runs the faults one after the other, each when its time has come and the platform has recovered from the one before. */
export async function runFaults(
  rig: Rig,
  faults: readonly PlannedFault[],
  times: FaultTimes,
  onFault: (fault: PastFault) => void,
): Promise<readonly PastFault[]> {
  const past: PastFault[] = [];
  for (const fault of faults) {
    const calmAt = (past.at(-1)?.mendedAt ?? 0) + times.calmSeconds * SECOND;
    const beginsAt = Math.max(calmAt, times.startedAt + fault.atSeconds * SECOND);
    if (beginsAt > times.untilMs) break;
    await delay(Math.max(0, beginsAt - Date.now()));
    const startedAt = Date.now();
    await RUNS[fault.kind](rig, fault).catch((cause: unknown) => {
      throw new Error(`The fault "${describeFault(fault)}" failed`, { cause });
    });
    const mended = { ...fault, startedAt, mendedAt: Date.now() };
    past.push(mended);
    onFault(mended);
  }
  await delay(Math.max(0, times.untilMs - Date.now()));
  return past;
}
