import type { Shutdown } from '@platform/service-kit';

/** Periodic work of the background. */
interface Job {
  start(): void;
  stop(): Promise<void>;
}

/** Starts a job where this process has it by its role, and registers its end with the shutdown. */
export type StartJob = (name: string, job: Job) => void;

/**
 * @param isOurs - whether this process looks for work by itself. Where it does not, a job still does what an act of this
 *   process wakes it for, as in any replica.
 */
export const createStartJob =
  (shutdown: Pick<Shutdown, 'on'>, isOurs: boolean): StartJob =>
  (name, job) => {
    shutdown.on('workers', name, job.stop);
    if (isOurs) job.start();
  };
