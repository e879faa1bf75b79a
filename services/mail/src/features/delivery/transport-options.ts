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

let secureContext: SecureContext | undefined;

/** Shares one context, because each connection would otherwise hold its own copy of the trusted authorities. */
export const getSecureContext = (): SecureContext => (secureContext ??= createSecureContext());

/** @returns nodemailer's options, besides those of `session.ts`. The certificate is always verified, even when TLS itself is optional. */
export const toTransportOptions = (configuration: SmtpConfiguration, limits: TransportLimits) => ({
  ...tlsOptions[configuration.tls](configuration.port),
  tls: { secureContext: getSecureContext() },
  host: configuration.host,
  port: configuration.port,
  name: limits.clientName,
  connectionTimeout: limits.timeoutMs,
  greetingTimeout: limits.timeoutMs,
  socketTimeout: limits.timeoutMs,
  socketCloseTimeout: 1_000,
});
