import type { Options } from '../options.mjs';
import { generatePassword, hashPassword, isPassword, type Secrets } from './secrets.js';

/** The first admin, for identity, for the stored secrets, and for the output of this start. */
export interface AdminChoice {
  readonly email: string;
  /** Undefined when it was given at an earlier start and not again. */
  readonly password: string | undefined;
  readonly kept: Secrets['admin'];
  /** Describes the options that have no effect, and why. */
  readonly notes: readonly string[];
}

const DEFAULT_EMAIL = 'admin@example.com';

/**
 * Chooses the admin. It is created once, at the first start that completes; from then on only the stored values
 * count.
 */
export function chooseAdmin(
  options: Pick<Options, 'adminEmail' | 'adminPassword'>,
  kept: Secrets['admin'] | undefined,
): AdminChoice {
  if (kept?.isCreated) return describeExisting(options, kept);
  const email = options.adminEmail ?? kept?.email ?? DEFAULT_EMAIL;
  if (options.adminPassword !== undefined) {
    const passwordHash = hashPassword(options.adminPassword);
    return {
      email,
      password: options.adminPassword,
      kept: { email, passwordHash, isCreated: false },
      notes: [],
    };
  }
  const password = kept?.password ?? generatePassword();
  const passwordHash = hashPassword(password);
  return { email, password, kept: { email, password, passwordHash, isCreated: false }, notes: [] };
}

function describeExisting(
  options: Pick<Options, 'adminEmail' | 'adminPassword'>,
  kept: Secrets['admin'],
): AdminChoice {
  const notes: string[] = [];
  if (options.adminEmail !== undefined && options.adminEmail !== kept.email) {
    notes.push(
      `BOOTSTRAP_ADMIN_EMAIL is not applied: the admin was made at the first start, as ${kept.email}.`,
    );
  }
  const given = options.adminPassword;
  const isKnown = given !== undefined && isPassword(kept.passwordHash, given);
  if (given !== undefined && !isKnown) {
    notes.push(
      'BOOTSTRAP_ADMIN_PASSWORD is not applied: the admin was made at the first start, with another one.',
    );
  }
  return { email: kept.email, password: kept.password ?? (isKnown ? given : undefined), kept, notes };
}
