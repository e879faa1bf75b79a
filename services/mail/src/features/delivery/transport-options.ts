import { createSecureContext, type SecureContext } from 'node:tls';
import type { ResolveHost, TargetPolicy } from '@platform/service-kit';
import type { SMTPPoolOptions } from 'nodemailer';
import type { SmtpConfiguration, TlsMode } from '../smtp-configuration/configuration.js';

/** The operator's settings, which apply to every organisation. */
export interface TransportLimits {
  /** The name that this client sends in EHLO. */
  readonly clientName: string;
  readonly connectionsPerPool: number;
  /** An idle connection is closed after this time. */
  readonly idleMs: number;
  /** Applies to each step: connecting, the greeting, every reply. */
  readonly timeoutMs: number;
  /** Decides which addresses and ports configurations may use. */
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

/** With `auto`, nothing but TLS may carry an access token: it opens more than the SMTP server. */
const getTlsOptions = ({ tls, port, oauth }: SmtpConfiguration): TlsOptions => {
  const options = tlsOptions[tls](port);
  return tls === 'auto' && oauth && !options.secure ? tlsOptions.starttls(port) : options;
};

function toAuth({ username, password, oauth }: SmtpConfiguration): SMTPPoolOptions['auth'] {
  if (username === undefined) return undefined;
  return oauth ? { type: 'OAuth2', user: username } : { user: username, pass: password ?? '' };
}

let secureContext: SecureContext | undefined;

/** Shares one context, because each connection would otherwise hold its own copy of the trusted authorities. */
export const getSecureContext = (): SecureContext => (secureContext ??= createSecureContext());

/** @returns nodemailer's options. The certificate is always verified, even when TLS itself is optional. */
export const toTransportOptions = (configuration: SmtpConfiguration, limits: TransportLimits) => ({
  ...getTlsOptions(configuration),
  tls: { secureContext: getSecureContext() },
  host: configuration.host,
  port: configuration.port,
  name: limits.clientName,
  auth: toAuth(configuration),
  connectionTimeout: limits.timeoutMs,
  greetingTimeout: limits.timeoutMs,
  socketTimeout: limits.timeoutMs,
  socketCloseTimeout: 1_000,
});
