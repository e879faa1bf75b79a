import type { SmtpProblem } from '@platform/auth';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import XOAuth2 from 'nodemailer/lib/xoauth2';
import { openSocket } from '../delivery/connect.js';
import { toProblem } from '../delivery/outcome.js';
import { type TransportLimits, toTransportOptions } from '../delivery/transport-options.js';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';

export interface Findings {
  /** The encryption of the connection, or null when it is in clear text. */
  readonly tls: 'implicit' | 'starttls' | null;
  readonly authenticated: boolean;
  /** Whether the server offers a login. */
  readonly offersAuth: boolean;
}

export type ProbeResult = { readonly findings: Findings } | { readonly problem: SmtpProblem };

/**
 * Connects, negotiates TLS and logs in like a delivery, but sends nothing. Never rejects.
 *
 * @param accessToken - needed when the configuration has no password but `oauth`.
 */
export async function probe(
  configuration: SmtpConfiguration,
  limits: TransportLimits,
  accessToken: string | undefined,
): Promise<ProbeResult> {
  const { auth: login, ...options } = toTransportOptions(configuration, limits);
  const { username: user } = configuration;
  const auth =
    accessToken === undefined || user === undefined
      ? login
      : { type: 'OAUTH2', method: 'XOAUTH2', user, oauth2: new XOAuth2({ user, accessToken }) };
  const socket = await openSocket(configuration, limits).catch((error: unknown) => toProblem(error));
  if (!('connection' in socket)) return { problem: socket };
  const connection = new SMTPConnection({ ...options, ...socket });
  return new Promise((resolve) => {
    const fail = (error: unknown) => {
      // Resolve before closing: closing emits `end`, which would otherwise be reported as the problem.
      resolve({ problem: toProblem(error) });
      connection.close();
    };
    const succeed = () => {
      const { secure, authenticated, allowsAuth: offersAuth } = connection;
      const mode = socket.secured ? 'implicit' : 'starttls';
      resolve({ findings: { tls: secure ? mode : null, authenticated, offersAuth } });
      connection.quit();
    };
    connection.on('error', fail);
    connection.once('end', () => {
      fail({ code: 'ECONNECTION' });
    });
    connection.connect((error) => {
      if (error) fail(error);
      else if (!auth || !connection.allowsAuth) succeed();
      else
        connection.login(auth, (loginError) => {
          if (loginError) fail(loginError);
          else succeed();
        });
    });
  });
}
