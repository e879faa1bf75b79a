import type { Logger } from 'pino';

/**
 * The order in which a process ends. Each phase runs its steps concurrently; the next phase starts when all of them have
 * ended or timed out.
 *
 *   unready  report "not ready", and wait for the load balancer to notice
 *   http     finish the requests in progress, accept no more
 *   workers  stop claiming jobs, finish or release those in progress
 *   flush    write what is buffered
 *   close    close connections
 */
export const shutdownPhases = ['unready', 'http', 'workers', 'flush', 'close'] as const;
export type ShutdownPhase = (typeof shutdownPhases)[number];

const PHASE_TIMEOUT_MS: Readonly<Record<ShutdownPhase, number>> = {
  unready: 61_000,
  // Longer than the minute that delivering a mail may take.
  http: 65_000,
  workers: 20_000,
  flush: 5_000,
  close: 5_000,
};

async function runStep(log: Logger, phase: ShutdownPhase, name: string, step: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`took longer than ${PHASE_TIMEOUT_MS[phase]} ms`));
      }, PHASE_TIMEOUT_MS[phase]);
    });
    await Promise.race([Promise.resolve().then(step), timeout]);
  } catch (error) {
    log.error({ err: error, phase, step: name }, 'shutdown step failed');
  } finally {
    clearTimeout(timer);
  }
}

export function createShutdown(log: Logger) {
  const steps: { phase: ShutdownPhase; name: string; step: () => unknown }[] = [];
  let running: Promise<void> | undefined;
  async function runPhases(reason: string): Promise<void> {
    log.info({ reason }, 'shutting down');
    for (const phase of shutdownPhases) {
      const ofPhase = steps.filter((entry) => entry.phase === phase).toReversed();
      await Promise.all(ofPhase.map(({ name, step }) => runStep(log, phase, name, step)));
      log.debug({ phase }, 'shutdown phase done');
    }
    log.info('shut down');
  }
  return {
    /**
     * Registers a step; what was opened last is closed first within its phase.
     *
     * @throws when the shutdown has begun, which ends a start that is still in progress.
     */
    on(phase: ShutdownPhase, name: string, step: () => unknown): void {
      if (running) throw new Error(`The process is stopping: ${name} is not started`);
      steps.push({ phase, name, step });
    },

    /** Runs all phases once; later calls wait for the first. Never rejects. */
    run: (reason: string): Promise<void> => (running ??= runPhases(reason)),
  };
}

export type Shutdown = ReturnType<typeof createShutdown>;
