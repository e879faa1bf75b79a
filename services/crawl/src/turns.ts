import { dependencyUnavailable } from '@platform/service-kit';

export interface TurnLimits {
  /** How many of one key are at work together. */
  readonly atOnce: number;
  /** How many of one key may wait; one more is refused at once. */
  readonly waitingMax: number;
  /** How long each may wait, in ms. */
  readonly waitMs: number;
}

/** Does `work` when it is the key's turn. @throws AppError 503 when too many wait, or for too long. */
export type TakeTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

interface Place {
  free: number;
  /** In the order in which they came. */
  readonly waiting: Set<() => void>;
}

/** Turns within this process, kept for as long as anybody of the key is at work or waits. */
export function createTurns({ atOnce, waitingMax, waitMs }: TurnLimits): TakeTurn {
  const places = new Map<string, Place>();

  async function enter(place: Place): Promise<void> {
    if (place.free > 0) {
      place.free -= 1;
      return;
    }
    if (place.waiting.size >= waitingMax) throw dependencyUnavailable('a turn');
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        place.waiting.delete(begin);
        reject(dependencyUnavailable('a turn'));
      }, waitMs);
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      place.waiting.add(begin);
    });
  }

  function leave(key: string, place: Place): void {
    const [next] = place.waiting;
    if (next) {
      place.waiting.delete(next);
      next();
      return;
    }
    place.free += 1;
    if (place.free === atOnce) places.delete(key);
  }

  return async (key, work) => {
    const place = places.get(key) ?? { free: atOnce, waiting: new Set() };
    places.set(key, place);
    await enter(place);
    try {
      return await work();
    } finally {
      leave(key, place);
    }
  };
}
