import { readEmailAddress } from '@platform/service-kit';
import { readSmtpOauth, type SmtpOauth } from './oauth.js';

/** The modes are documented in identity's configuration manager. */
export const tlsModes = ['auto', 'starttls', 'implicit', 'none'] as const;
export type TlsMode = (typeof tlsModes)[number];

/** A complete configuration. The secrets must not appear in any response, log line or error. */
export interface SmtpConfiguration {
  readonly host: string;
  readonly port: number;
  readonly fromEmail: string;
  readonly username?: string;
  readonly password?: string;
  /** How to get the access token that the user name signs in with, instead of a password. */
  readonly oauth?: SmtpOauth;
  readonly tls: TlsMode;
}

const DEFAULT_PORT = 587;

/** Rejects control characters, because these values end up in lines of the SMTP protocol. */
const isPlain = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxLength && !/\p{Cc}/u.test(value);

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

const isUsable = (value: unknown, maxLength: number): boolean => !isGiven(value) || isPlain(value, maxLength);

function readPort(value: unknown): number | undefined {
  if (value === undefined || value === null) return DEFAULT_PORT;
  const port = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value;
  return typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535 ? port : undefined;
}

/**
 * Validates a configuration, since an external configuration manager may return anything.
 *
 * @returns undefined when the host or the sender is missing, or when the host, port, sender, TLS mode, login or
 *   `auth` is invalid. A login that can't be tried must not turn into none.
 */
export function readSmtpConfiguration(raw: unknown): SmtpConfiguration | undefined {
  if (raw === null || typeof raw !== 'object') return undefined;
  const { host, port: rawPort, fromEmail, username, password, auth, tls } = raw as Record<string, unknown>;
  const port = readPort(rawPort);
  const mode = tlsModes.find((candidate) => candidate === (tls ?? 'auto'));
  if (!isPlain(host, 253) || /\s/.test(host) || port === undefined || mode === undefined) return undefined;
  if (!isPlain(fromEmail, 254) || readEmailAddress(fromEmail) === undefined) return undefined;
  if (!isUsable(username, 1_024) || !isUsable(password, 4_096)) return undefined;
  if (isGiven(password) && !isGiven(username)) return undefined;
  const oauth = readSmtpOauth(auth);
  if (auth !== undefined && auth !== null && (!oauth || !isPlain(username, 1_024))) return undefined;
  return {
    host,
    port,
    fromEmail,
    ...(isPlain(username, 1_024) ? { username } : {}),
    ...(isPlain(password, 4_096) && !oauth ? { password } : {}),
    ...(oauth && { oauth }),
    tls: mode,
  };
}
