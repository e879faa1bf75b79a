import { randomBytes, scryptSync } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LaunchError } from './launch-error.js';

/** The secrets of one data folder, without which its database cannot be read. */
export interface Secrets {
  /** `<id>:<base64 of 32 bytes>`, comma-separated; the first encrypts. */
  readonly encryptionKeys: string;
  /** Secrets with which services call identity and one another, by service. */
  readonly clientSecrets: Readonly<Record<string, string>>;
  readonly admin: {
    readonly email: string;
    /** Stored only when it was generated. */
    readonly password?: string;
    /** Verifies whether a given password is the admin's initial one. */
    readonly passwordHash: string;
    /** Whether identity has created the admin; other options have no effect from then on. */
    readonly isCreated: boolean;
  };
}

const FILE = 'secrets.json';

const digest = (password: string, salt: string): string =>
  `${salt}:${scryptSync(password, salt, 32).toString('base64url')}`;

export const hashPassword = (password: string): string =>
  digest(password, randomBytes(12).toString('base64url'));

export const isPassword = (hash: string, password: string): boolean =>
  digest(password, hash.split(':')[0] ?? '') === hash;

export const generatePassword = (): string => randomBytes(15).toString('base64url');

export const generateEncryptionKeys = (): string => `1:${randomBytes(32).toString('base64')}`;

/** Returns the stored secrets, and new ones for services without. */
export const completeClientSecrets = (
  services: readonly string[],
  kept: Secrets['clientSecrets'] = {},
): Secrets['clientSecrets'] => ({
  ...Object.fromEntries(services.map((name) => [name, randomBytes(32).toString('base64url')])),
  ...kept,
});

/** The stored secrets of an earlier version may lack those of newer services. */
export type KeptSecrets = Omit<Secrets, 'clientSecrets'> & Partial<Pick<Secrets, 'clientSecrets'>>;

export async function readSecrets(dataDir: string): Promise<KeptSecrets | undefined> {
  const path = join(dataDir, FILE);
  try {
    return JSON.parse(await readFile(path, 'utf8')) as KeptSecrets;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new LaunchError(
      `${path} can't be read: ${(error as Error).message}. Restore it, or start with --fresh.`,
    );
  }
}

/** Replaces the file atomically: a crash leaves either the old or the new one. */
export async function writeSecrets(dataDir: string, secrets: Secrets): Promise<void> {
  const path = join(dataDir, FILE);
  await writeFile(`${path}.new`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
