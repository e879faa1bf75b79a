/** The steps of connecting a client, in their order. */
export const steps = [
  /** The tool endpoint answered a request without a credential with its challenge. */
  'challenge',
  /** The client read the metadata that the challenge names. */
  'metadata',
  /** The client registered itself. One that a document describes does not. */
  'registration',
  /** A browser opened the authorization endpoint. */
  'authorize',
  /** A member was asked for consent. */
  'consent',
  /** The member allowed it, and the client was sent a code. */
  'code',
  /** The client exchanged the code for tokens. */
  'token',
  /** The client called a tool. */
  'call',
] as const;
export type Step = (typeof steps)[number];

const toIndex = (step: Step): number => steps.indexOf(step);

/** A step as it was recorded. */
export interface RecordedStep {
  readonly step: Step;
  readonly at: Date;
  /** The client id; null where the request names none. */
  readonly clientId: string | null;
  readonly userAgent: string | null;
  /** The code of what went wrong at the step. */
  readonly fault: string | null;
  readonly userId: string | null;
}

/** The steps that belong together, the first one first. */
export interface Attempt {
  readonly clientId: string | null;
  readonly recorded: readonly RecordedStep[];
}

/** So much time lies between two steps at most: a person may have to sign in first. */
const PAUSE_MS = 15 * 60_000;

const isAfter = (last: RecordedStep, { step, at }: RecordedStep): boolean =>
  at.getTime() - last.at.getTime() <= PAUSE_MS && toIndex(step) >= toIndex(last.step);

/** Whether a step can be of the client and the member of an attempt: the first ones name neither. */
const isOf = ({ clientId, recorded }: Attempt, other: RecordedStep): boolean =>
  (other.clientId === null || clientId === null || other.clientId === clientId) &&
  recorded.every(({ userId }) => userId === null || other.userId === null || userId === other.userId);

/**
 * Puts recorded steps together to attempts. A step goes on with the attempt of its client that was heard of last and has not come
 * further; a step that names no client, with that of a client that has named none either.
 *
 * @param recorded - in the order of their times.
 * @returns the newest attempt first.
 */
export function toAttempts(recorded: readonly RecordedStep[]): Attempt[] {
  const attempts: { clientId: string | null; recorded: RecordedStep[] }[] = [];
  for (const one of recorded) {
    const known = attempts.findLast((attempt) => {
      const last = attempt.recorded.at(-1);
      if (!last || !isAfter(last, one) || !isOf(attempt, one)) return false;
      return one.clientId !== null || attempt.clientId === null;
    });
    if (known) {
      known.recorded.push(one);
      known.clientId ??= one.clientId;
    } else attempts.push({ clientId: one.clientId, recorded: [one] });
  }
  return attempts.toReversed();
}

/** Returns the step that an attempt is stuck at: the one that failed, or the first that is missing; undefined for none. */
export function findStuckStep({ recorded }: Attempt, hasCalled: boolean): Step | undefined {
  const last = recorded.at(-1);
  if (!last || hasCalled) return undefined;
  if (last.fault !== null) return last.step;
  // What registers itself, and what does not, both go on to the browser.
  const next = last.step === 'metadata' ? 'authorize' : steps[toIndex(last.step) + 1];
  return next;
}
