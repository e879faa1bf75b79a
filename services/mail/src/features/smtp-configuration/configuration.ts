import { readEmailAddress } from '@platform/service-kit';

/** See identity's configuration manager for what the modes mean. */
export const tlsModes = ['auto', 'starttls', 'implicit', 'none'] as const;
export type TlsMode = (typeof tlsModes)[number];

/** A complete configuration. The password is in no answer, log line or error. */
export interface SmtpConfiguration {
  readonly host: string;
  readonly port: number;
  readonly fromEmail: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls: TlsMode;
}

const DEFAULT_PORT = 587;

/** Both end up in protocol lines. */
const isPlain = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxLength && !/\p{Cc}/u.test(value);

function readPort(value: unknown): number | undefined {
  if (value === undefined || value === null) return DEFAULT_PORT;
  const port = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value;
  return typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535 ? port : undefined;
}

/**
 * A configuration manager of somebody else's may store anything.
 *
 * @returns undefined when it isn't complete: host, port and sender, and a known TLS mode if one is named.
 */
export function readSmtpConfiguration(raw: unknown): SmtpConfiguration | undefined {
  if (raw === null || typeof raw !== 'object') return undefined;
  const { host, port: rawPort, fromEmail, username, password, tls } = raw as Record<string, unknown>;
  const port = readPort(rawPort);
  const mode = tlsModes.find((candidate) => candidate === (tls ?? 'auto'));
  if (!isPlain(host, 253) || /\s/.test(host) || port === undefined || mode === undefined) return undefined;
  if (!isPlain(fromEmail, 254) || readEmailAddress(fromEmail) === undefined) return undefined;
  return {
    host,
    port,
    fromEmail,
    ...(isPlain(username, 1_024) ? { username } : {}),
    ...(isPlain(password, 4_096) ? { password } : {}),
    tls: mode,
  };
}
