/** Counts the time that an attempt has worked. The time for which its endpoint is away is not work, and bounded elsewhere. */
export function createWorkTimer(timeoutMs: number, onElapsed: () => void) {
  let leftMs = timeoutMs;
  let startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined = setTimeout(onElapsed, leftMs);
  let isStopped = false;
  function pause(): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    leftMs -= performance.now() - startedAt;
  }
  return {
    pause,
    resume(): void {
      if (timer !== undefined || isStopped) return;
      startedAt = performance.now();
      timer = setTimeout(onElapsed, Math.max(0, leftMs));
    },
    /** For good. */
    stop(): void {
      isStopped = true;
      pause();
    },
  };
}
