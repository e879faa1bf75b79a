interface Waiter<A> {
  resolve(answer: A): void;
  reject(reason: unknown): void;
}

interface Question<Q, A> {
  readonly question: Q;
  readonly waiters: Waiter<A>[];
}

export interface CoalesceOptions<Q, A> {
  /** Questions with the same key in one batch are asked once. */
  toKey(question: Q): string;
  /** @returns one answer per question, in their order. */
  ask(questions: readonly Q[]): Promise<readonly A[]>;
  readonly maxBatch: number;
  /** How many batches may be under way at once; the next one gathers meanwhile. */
  readonly maxInFlight: number;
  /**
   * How long questions gather, in ms, while another batch is under way: its answer ends that, too. So
   * under load batches are fewer and larger, and one that hangs holds nobody up. Default 0.
   */
  readonly gatherMs?: number;
}

/**
 * Gathers the questions of one event-loop turn into one. A question is never answered by a
 * batch that was sent before it came: that would be an answer from the past.
 *
 * When a batch fails, those that wait for a place fail with it, rather than wait a time-out of
 * their own for a dependency that is away.
 */
export function coalesce<Q, A>(options: CoalesceOptions<Q, A>): (question: Q) => Promise<A> {
  const { gatherMs = 0 } = options;
  let gathering = new Map<string, Question<Q, A>>();
  let inFlight = 0;
  let isScheduled = false;
  let gatheringEnds: NodeJS.Timeout | undefined;

  function rejectAll(questions: Iterable<Question<Q, A>>, reason: unknown): void {
    for (const { waiters } of questions) for (const waiter of waiters) waiter.reject(reason);
  }

  async function send(batch: readonly Question<Q, A>[]): Promise<void> {
    inFlight += 1;
    try {
      const answers = await options.ask(batch.map(({ question }) => question));
      for (const [index, { waiters }] of batch.entries())
        for (const waiter of waiters) waiter.resolve(answers[index] as A);
    } catch (error) {
      rejectAll(batch, error);
      if (inFlight < options.maxInFlight) return;
      rejectAll(gathering.values(), error);
      gathering = new Map();
    } finally {
      inFlight -= 1;
      flush();
    }
  }

  function flush(): void {
    isScheduled = false;
    clearTimeout(gatheringEnds);
    while (gathering.size > 0 && inFlight < options.maxInFlight) {
      const all = [...gathering];
      gathering = new Map(all.slice(options.maxBatch));
      void send(all.slice(0, options.maxBatch).map(([, question]) => question));
    }
  }

  return (question) =>
    new Promise((resolve, reject) => {
      const key = options.toKey(question);
      const waiter = { resolve, reject };
      const asked = gathering.get(key);
      if (asked) asked.waiters.push(waiter);
      else gathering.set(key, { question, waiters: [waiter] });
      if (isScheduled || inFlight >= options.maxInFlight) return;
      isScheduled = true;
      if (inFlight === 0 || gatherMs === 0) setImmediate(flush);
      else gatheringEnds = setTimeout(flush, gatherMs);
    });
}
