import { type TakeTurn, WaitingLine, type WaitingLimits } from './waiting-line.js';

/** One of a key at a time, within this process; a key is kept for as long as anybody of it is at work or waits. */
export function createTurns(limits: WaitingLimits): TakeTurn {
  const lines = new Map<string, WaitingLine>();
  return async (key, work) => {
    const line = lines.get(key);
    if (line) await line.wait();
    const own = line ?? new WaitingLine(limits);
    lines.set(key, own);
    try {
      return await work();
    } finally {
      if (!own.callNext()) lines.delete(key);
    }
  };
}
