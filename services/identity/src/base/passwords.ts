import { randomBytes } from 'node:crypto';
import { hash, type Options, verify } from '@node-rs/argon2';
import { dependencyUnavailable } from '@platform/service-kit';

/** OWASP's parameters for Argon2id, which is the package's default algorithm: 19 MiB, two passes, one lane. */
const options: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * The hashes that are computed at once, so that they leave processor time for the requests that check liveness, and those
 * that wait. They take some 20 ms each: nobody waits longer than a second or two.
 */
const MAX_RUNNING = 2;
const MAX_WAITING = 64;
/** Beyond those, so many of people at known places, so that strangers who fill the queue keep nobody else out. */
const MAX_KNOWN_WAITING = 64;

/** Whether a password comes from a place that its owner has been at. It is asked when the queue is full for strangers. */
type IsKnown = () => Promise<boolean>;
const isStranger: IsKnown = () => Promise.resolve(false);

/** @param cost of a hash; only tests, which hash thousands of passwords, give a lower one. */
export function createPasswords(cost: Options = options) {
  let decoy: Promise<string> | undefined;
  let running = 0;
  const waiting: (() => void)[] = [];

  /** @throws AppError 503 when too many wait. */
  async function run<T>(compute: () => Promise<T>, isKnown: IsKnown): Promise<T> {
    const limit =
      waiting.length >= MAX_WAITING && (await isKnown()) ? MAX_WAITING + MAX_KNOWN_WAITING : MAX_WAITING;
    if (running < MAX_RUNNING) running += 1;
    else if (waiting.length >= limit)
      throw dependencyUnavailable('password hashing', new Error(`${waiting.length} wait for it`));
    // Passes the turn to the next in the queue.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await compute();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }

  return {
    /** @throws AppError 503 when too many passwords wait to be hashed. */
    hash: (password: string, isKnown = isStranger): Promise<string> =>
      run(() => hash(password, cost), isKnown),

    /**
     * Takes as long for an unknown account, or one without a password, as for a wrong password.
     *
     * @throws AppError 503 when too many passwords wait to be hashed.
     */
    async verify(
      passwordHash: string | null | undefined,
      password: string,
      isKnown = isStranger,
    ): Promise<boolean> {
      decoy ??= hash(randomBytes(32), cost);
      const expected = passwordHash ?? (await decoy);
      const isCorrect = await run(() => verify(expected, password), isKnown);
      return isCorrect && passwordHash !== null && passwordHash !== undefined;
    },
  };
}

/** For members who have proven their identity: with a session, a mailed link, or at their provider. */
export const isProven: IsKnown = () => Promise.resolve(true);

export type Passwords = ReturnType<typeof createPasswords>;
