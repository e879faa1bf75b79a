import { setTimeout as delay } from 'node:timers/promises';
import { showStep } from '@platform/config/progress.mjs';
import type { Options } from '../options.mjs';
import { launch } from './launcher.js';
import { LaunchError } from './launch-error.js';
import { readyMessage } from './ready-message.js';
import { type ServiceDefinition, SERVICES } from './services.js';
import { createTeardown, type Teardown } from './teardown.js';

/** npm forwards the Ctrl-C that the terminal also sends to this process; a second signal within this time is the same one. */
const SAME_SIGNAL_MS = 500;
const KILL_TIMEOUT_MS = 3_000;
const PARENT_CHECK_MS = 1_000;

/**
 * Runs the platform until a signal or a crash ends it, then exits: 0 after a signal, 1 after a fault.
 *
 *   starting → running → stopping → exit
 *
 * The first signal or crash, in whatever state, leads to `stopping`, once. A second signal there kills what is left.
 */
export async function main(
  options: Options,
  services: readonly ServiceDefinition[] = SERVICES,
): Promise<void> {
  const startedAt = performance.now();
  const teardown = createTeardown();
  const stopping = new AbortController();
  let fault: unknown;
  const fail = (error: unknown) => {
    if (stopping.signal.aborted) return;
    fault = error;
    stopping.abort();
  };
  watchSignals(stopping, teardown);
  if (options.environment['npm_lifecycle_event']) watchParent(stopping);
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  // The terminal may close before this process ends.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  try {
    const facts = await launch({ options, services, teardown, signal: stopping.signal, onCrash: fail });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(readyMessage({ ...facts, seconds }));
    void facts.comparison?.then((line) => line !== undefined && process.stdout.write(`\n${line}\n`));
    await untilAborted(stopping.signal);
  } catch (error) {
    fail(error);
  }
  // Printed before the stop, which may take a while.
  if (fault !== undefined) process.stderr.write(`\n${describeFault(fault)}\n`);
  if (!teardown.isEmpty) await showStep('Stopping', (note) => teardown.run(note));
  process.exit(fault === undefined ? 0 : 1);
}

function watchSignals(stopping: AbortController, teardown: Teardown): void {
  let firstAt: number | undefined;
  const onSignal = () => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      stopping.abort();
    } else if (performance.now() - firstAt > SAME_SIGNAL_MS) {
      void Promise.race([teardown.killAll(), delay(KILL_TIMEOUT_MS)]).then(() => process.exit(130));
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
}

/** A killed npm forwards no signal, and nothing else would stop the platform. */
function watchParent(stopping: AbortController): void {
  const parentPid = process.ppid;
  setInterval(() => {
    if (process.ppid !== parentPid) stopping.abort();
  }, PARENT_CHECK_MS).unref();
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const describeFault = (fault: unknown): string =>
  fault instanceof LaunchError
    ? fault.message
    : fault instanceof Error
      ? (fault.stack ?? fault.message)
      : String(fault);
