import { randomBytes, scryptSync } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LaunchError } from './launch-error.js';

/** What one data folder was set up with. The database in it can't be read without these. */
export interface Secrets {
  /** `<id>:<base64 of 32 bytes>`, comma-separated; the first encrypts. */
  readonly encryptionKeys: string;
  /** Secrets with which services call identity and one another, by service. */
  readonly clientSecrets: Readonly<Record<string, string>>;
  readonly admin: {
    readonly email: string;
    /** Kept only when it was generated; one that was given is its owner's to keep. */
    readonly password?: string;
    /** Tells whether a given password is the one that the admin was made with. */
    readonly passwordHash: string;
    /** Once true, identity has made the admin, and later wishes change nothing. */
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

/** Those that are kept, and new ones for the services that have none yet. */
export const completeClientSecrets = (
  services: readonly string[],
  kept: Secrets['clientSecrets'] = {},
): Secrets['clientSecrets'] => ({
  ...Object.fromEntries(services.map((name) => [name, randomBytes(32).toString('base64url')])),
  ...kept,
});

/** What a folder of an earlier version kept may lack the secrets of services that have come since. */
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

/** Replaces the file as a whole: a crash leaves the old one or the new one, never a half. */
export async function writeSecrets(dataDir: string, secrets: Secrets): Promise<void> {
  const path = join(dataDir, FILE);
  await writeFile(`${path}.new`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
