import { dependencyUnavailable } from '@platform/service-kit';

export interface WaitingLimits {
  /** How many of one key may wait; one more is refused at once. */
  readonly maxWaiting: number;
  /** How long each may wait, in ms. */
  readonly waitMs: number;
}

/** Does `work` when it is the key's turn. @throws AppError 503 when too many wait, or for too long. */
export type TakeTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Those of one key who wait, in the order in which they came. */
export class WaitingLine {
  readonly #waiting = new Set<() => void>();

  constructor(private readonly limits: WaitingLimits) {}

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Resolves when {@link callNext} has come to it. @throws AppError 503. */
  async wait(): Promise<void> {
    if (this.#waiting.size >= this.limits.maxWaiting) throw dependencyUnavailable('a turn');
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(begin);
        reject(dependencyUnavailable('a turn'));
      }, this.limits.waitMs);
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.add(begin);
    });
  }

  /** @returns false when nobody waits. */
  callNext(): boolean {
    const [next] = this.#waiting;
    if (!next) return false;
    this.#waiting.delete(next);
    next();
    return true;
  }
}
