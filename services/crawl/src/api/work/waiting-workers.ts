/** The most workers of an organisation that wait at a time, on this replica. */
const MAX_WAITING = 50;

/** Lets workers wait until their organisation has a run that can be claimed. */
export function createWaitingWorkers() {
  const byOrg = new Map<string, Set<() => void>>();
  let isClosed = false;

  function wake(orgId: string | undefined): void {
    const sets = orgId === undefined ? [...byOrg.values()] : [byOrg.get(orgId) ?? []];
    for (const waiting of sets) for (const end of waiting) end();
  }

  return {
    /** Returns whether one more worker may wait. */
    hasRoom: (orgId: string): boolean => (byOrg.get(orgId)?.size ?? 0) < MAX_WAITING,

    /**
     * Resolves when the organisation is woken, the time is over, the signal is aborted or the process stops.
     *
     * @returns whether it is worth trying again: false when the time is over, or nobody waits any more.
     */
    wait: (orgId: string, ms: number, signal: AbortSignal): Promise<boolean> =>
      new Promise((resolve) => {
        if (isClosed || signal.aborted || ms <= 0) {
          resolve(false);
          return;
        }
        const waiting = byOrg.get(orgId) ?? new Set();
        byOrg.set(orgId, waiting);
        const stop = (isWoken: boolean) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', abort);
          waiting.delete(end);
          if (waiting.size === 0) byOrg.delete(orgId);
          resolve(isWoken);
        };
        const end = () => {
          stop(!isClosed);
        };
        const abort = () => {
          stop(false);
        };
        const timer = setTimeout(abort, ms);
        signal.addEventListener('abort', abort);
        waiting.add(end);
      }),

    wake,

    /** Ends all waiting, now and later. */
    close(): void {
      isClosed = true;
      wake(undefined);
    },
  };
}

export type WaitingWorkers = ReturnType<typeof createWaitingWorkers>;
