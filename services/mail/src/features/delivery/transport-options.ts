import { createSecureContext, type SecureContext } from 'node:tls';
import type { SMTPPoolOptions } from 'nodemailer';
import type { SmtpConfiguration, TlsMode } from '../smtp-configuration/configuration.js';
import type { TargetPolicy } from '../smtp-targets/policy.js';
import type { ResolveHost } from './resolve-host.js';

/** What the operator sets, the same for every organisation. */
export interface TransportLimits {
  /** How this client introduces itself (EHLO). */
  readonly clientName: string;
  readonly connectionsPerPool: number;
  /** An idle connection is closed after this. */
  readonly idleMs: number;
  /** For each step: connecting, the greeting, every answer. */
  readonly timeoutMs: number;
  /** Where configurations may lead. */
  readonly targets: TargetPolicy;
  readonly resolveHost: ResolveHost;
}

type TlsOptions = Pick<SMTPPoolOptions, 'secure' | 'requireTLS' | 'ignoreTLS'>;

const tlsOptions: Readonly<Record<TlsMode, (port: number) => TlsOptions>> = {
  implicit: () => ({ secure: true }),
  starttls: () => ({ secure: false, requireTLS: true }),
  none: () => ({ secure: false, ignoreTLS: true }),
  auto: (port) => ({ secure: port === 465 }),
};

export const isImplicitTls = ({ tls, port }: SmtpConfiguration): boolean =>
  tlsOptions[tls](port).secure === true;

let secureContext: SecureContext | undefined;

/** One for all connections: each would make its own, with the trusted authorities in it, and hold it. */
export const sharedSecureContext = (): SecureContext => (secureContext ??= createSecureContext());

/** nodemailer's options. A certificate is always checked, also where TLS itself is optional. */
export const transportOptions = (configuration: SmtpConfiguration, limits: TransportLimits) => ({
  ...tlsOptions[configuration.tls](configuration.port),
  tls: { secureContext: sharedSecureContext() },
  host: configuration.host,
  port: configuration.port,
  name: limits.clientName,
  ...(configuration.username === undefined
    ? {}
    : { auth: { user: configuration.username, pass: configuration.password ?? '' } }),
  connectionTimeout: limits.timeoutMs,
  greetingTimeout: limits.timeoutMs,
  socketTimeout: limits.timeoutMs,
  socketCloseTimeout: 1_000,
});
