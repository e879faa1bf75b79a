/**
 * Who does the work of a run. `event`: whoever consumes the event that the run publishes, or the endpoint that the
 * operator has configured. `pull`: a worker that claims the run. `endpoint`: an endpoint that the
 * organisation has registered.
 */
export const runWorkers = ['event', 'pull', 'endpoint'] as const;
export type RunWorker = (typeof runWorkers)[number];
