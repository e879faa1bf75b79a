import { setTimeout as delay } from 'node:timers/promises';
import { LaunchError } from './launch-error.js';
import type { LogFile } from './log-file.js';
import type { ServiceProcess } from './service-process.js';

const SECOND = 1_000;
const FIRST_PAUSE_MS = 0.5 * SECOND;
const MAX_DEATHS = 5;
const DEATHS_WITHIN_MS = 60 * SECOND;

interface Supervised {
  readonly name: string;
  /** Where its readiness can be asked, if it can. */
  readonly url: string | undefined;
  readonly log: LogFile;
  /** Starts the process again. */
  spawn(): ServiceProcess;
}

interface SuperviseContext {
  /** Aborted when the platform has to stop; nothing is started from then on. */
  readonly signal: AbortSignal;
  /** Called when the process has died too often. */
  onCrash(error: LaunchError): void;
}

/**
 * Starts a process again whenever it dies, so that the others go on, and says so in the terminal. The pause before a
 * start doubles with each death within the last minute. The fifth of these ends the platform: what dies at once does
 * not work, and its log is more useful than a gateway that answers 503.
 */
export async function supervise(
  { name, url, log, spawn }: Supervised,
  { signal, onCrash }: SuperviseContext,
  started: ServiceProcess,
): Promise<void> {
  let deaths: number[] = [];
  for (let child = started; ; child = spawn()) {
    if (child !== started && url !== undefined) void reportReady(child, url, signal);
    const how = await child.exited;
    if (signal.aborted) return;
    const now = performance.now();
    deaths = [...deaths.filter((at) => now - at < DEATHS_WITHIN_MS), now];
    const tail = `Its log (${log.path}) ends with:\n${log.tail()}`;
    if (deaths.length === MAX_DEATHS) {
      onCrash(new LaunchError(`${name} ${how} for the ${MAX_DEATHS}th time within a minute. ${tail}`));
      return;
    }
    const pauseMs = FIRST_PAUSE_MS * 2 ** (deaths.length - 1);
    process.stderr.write(`\n${name} ${how}, and starts again in ${pauseMs / SECOND} s. ${tail}\n`);
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
  }
}

/** The next death is reported by the loop above, so only the recovery is left. */
async function reportReady({ name, waitUntilReady }: ServiceProcess, url: string, signal: AbortSignal) {
  const state = await waitUntilReady(url, signal).catch(() => undefined);
  if (state === 'ready') process.stderr.write(`${name} is ready again.\n`);
}
