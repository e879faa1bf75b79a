/**
 * Who does the work of a run. `event`: whoever consumes the event that the run publishes. `pull`: a worker that claims
 * the run. `endpoint`: an endpoint that the organisation has registered.
 */
export const runWorkers = ['event', 'pull', 'endpoint'] as const;
export type RunWorker = (typeof runWorkers)[number];

/** The description of a field that says it. */
export const RUN_WORKER =
  'Who does the work. `event`: nobody in the platform: a run only publishes its event, and is `completed` then. `pull`: a worker that claims it. `endpoint`: an endpoint of the organisation.';
