import { randomBytes } from 'node:crypto';
import { hash, type Options, verify } from '@node-rs/argon2';

/** OWASP's parameters for Argon2id, which is the package's default algorithm: 19 MiB, two passes, one lane. */
const options: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** @param cost of a hash; only tests, which hash thousands of passwords, give a lower one. */
export function createPasswords(cost: Options = options) {
  let decoy: Promise<string> | undefined;
  return {
    hash: (password: string): Promise<string> => hash(password, cost),

    /** Takes as long for an unknown account, or one without a password, as for a wrong password. */
    async verify(passwordHash: string | null | undefined, password: string): Promise<boolean> {
      decoy ??= hash(randomBytes(32), cost);
      const isCorrect = await verify(passwordHash ?? (await decoy), password);
      return isCorrect && passwordHash !== null && passwordHash !== undefined;
    },
  };
}

export type Passwords = ReturnType<typeof createPasswords>;
