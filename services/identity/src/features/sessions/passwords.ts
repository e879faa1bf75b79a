import { randomBytes } from 'node:crypto';
import { type Algorithm, hash, verify } from '@node-rs/argon2';

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long for an account that has no password, or doesn't exist, as for one that has. */
  verify(passwordHash: string | null | undefined, password: string): Promise<boolean>;
}

// The package's enum is a const one, which isolated modules can't read.
const ARGON2ID = 2 as Algorithm;

/** OWASP's choice: 19 MiB, two passes, one lane. */
const options = { algorithm: ARGON2ID, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export function createPasswords(): Passwords {
  let decoy: Promise<string> | undefined;
  return {
    hash: (password) => hash(password, options),
    async verify(passwordHash, password) {
      decoy ??= hash(randomBytes(32), options);
      const isRight = await verify(passwordHash ?? (await decoy), password);
      return isRight && passwordHash !== null && passwordHash !== undefined;
    },
  };
}
