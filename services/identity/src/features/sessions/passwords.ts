import { randomBytes } from 'node:crypto';
import { hash, type Options, verify } from '@node-rs/argon2';

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long for an account that has no password, or doesn't exist, as for one that has. */
  verify(passwordHash: string | null | undefined, password: string): Promise<boolean>;
}

/** Argon2id is the package's default algorithm. OWASP's choice: 19 MiB, two passes, one lane. */
const options: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export function createPasswords(): Passwords {
  let decoy: Promise<string> | undefined;
  return {
    hash: (password) => hash(password, options),
    async verify(passwordHash, password) {
      decoy ??= hash(randomBytes(32), options);
      const isCorrect = await verify(passwordHash ?? (await decoy), password);
      return isCorrect && passwordHash !== null && passwordHash !== undefined;
    },
  };
}
