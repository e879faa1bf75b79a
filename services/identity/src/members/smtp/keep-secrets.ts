import { type FaultDetail, validationError } from '@platform/service-kit';
import type {
  GivenSmtpAuth,
  SaveSmtpConfigBody,
  SmtpAuthSecret,
  SmtpAuthWithSecrets,
  SmtpConfigWithSecrets,
} from './schemas.js';

/** A configuration as it is given, with every secret that is kept. */
export interface CompleteSmtp extends Omit<SaveSmtpConfigBody, 'password' | 'auth' | 'hasPassword'> {
  readonly password?: string;
  readonly auth?: SmtpAuthWithSecrets;
}

/** What a secret is sent to, and for whom. Changing any of it must not hand the secret to somebody else. */
const serverFields = ['host', 'port', 'tls', 'username'] as const;
const accountFields = ['tenant', 'clientId', 'tokenUrl'] as const;

const secretNames = ['clientSecret', 'certificate', 'serviceAccountKey', 'refreshToken'] as const;

const isSame = <T extends object>(one: T, other: T, fields: readonly (keyof T)[]): boolean =>
  fields.every((field) => one[field] === other[field]);

function refuse(fields: readonly string[]): Error {
  const message = 'must be given again, or be null, when the server, its encryption or the account changes';
  return validationError(fields.map((field): FaultDetail => ({ field, message })));
}

/** The secrets of a sign-in by OAuth that are left out, of those that are stored. */
function findLeftOut(given: GivenSmtpAuth, stored: SmtpAuthWithSecrets): SmtpAuthSecret[] {
  // Microsoft takes one of the two: the one that is given replaces the other.
  const isReplaced =
    given.provider === 'microsoft' && (given.clientSecret ?? given.certificate ?? null) !== null;
  return isReplaced
    ? []
    : secretNames.filter((name) => stored[name] !== undefined && given[name] === undefined);
}

function keepAuth(given: GivenSmtpAuth, stored: SmtpAuthWithSecrets | undefined, isSameServer: boolean) {
  const { clientSecret, certificate, serviceAccountKey, refreshToken, ...rest } = given;
  const { certificateExpiresAt: _end, serviceAccount: _account, hasClientSecret: _has, ...open } = rest;
  const secrets = { clientSecret, certificate, serviceAccountKey, refreshToken };
  const known = stored?.provider === given.provider ? stored : undefined;
  const leftOut = known ? findLeftOut(given, known) : [];
  if (known && leftOut.length > 0 && !(isSameServer && isSame<GivenSmtpAuth>(given, known, accountFields)))
    throw refuse(leftOut.map((name) => `auth.${name}`));
  const entries = secretNames.map((name) => [name, leftOut.includes(name) ? known?.[name] : secrets[name]]);
  return {
    ...open,
    ...Object.fromEntries(entries.filter(([, value]) => (value ?? null) !== null)),
  } as SmtpAuthWithSecrets;
}

/**
 * Adds the secrets that are left out, and leaves out those that are null (API-18). Without a user name there is no
 * sign-in, and no secret to keep.
 *
 * @param stored - undefined when there is none; `lost` when its secret can't be decrypted.
 * @throws AppError 400 when a secret that is kept is lost, or would be sent to another server or for another account.
 */
export function keepSecrets(
  { password, auth, hasPassword: _read, ...given }: SaveSmtpConfigBody,
  stored: SmtpConfigWithSecrets | 'lost' | undefined,
): CompleteSmtp {
  const known = stored === 'lost' ? undefined : stored;
  const isSameServer = known !== undefined && isSame<SaveSmtpConfigBody>(given, known, serverFields);
  if (auth) return { ...given, auth: keepAuth(auth, known?.auth, isSameServer) };
  if (given.username === undefined || password === null) return given;
  if (password !== undefined) return { ...given, password };
  if (stored !== 'lost' && known?.password === undefined) return given;
  if (!isSameServer || known.password === undefined) throw refuse(['password']);
  return { ...given, password: known.password };
}
