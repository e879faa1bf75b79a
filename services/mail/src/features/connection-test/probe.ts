import type { SmtpProblem } from '@platform/events/facts';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { openSocket } from '../delivery/connect.js';
import { toProblem } from '../delivery/outcome.js';
import { needsUtf8 } from '../delivery/deliver.js';
import { type ServerOffer, toSessionOptions } from '../delivery/session.js';
import { type TransportLimits, toTransportOptions } from '../delivery/transport-options.js';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';

export interface Findings {
  /** The encryption of the connection, or null when it is in clear text. */
  readonly tls: 'implicit' | 'starttls' | null;
  readonly authenticated: boolean;
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
  let offer: ServerOffer | undefined;
  const getToken = accessToken === undefined ? undefined : () => Promise.resolve(accessToken);
  const { auth, customAuth } = toSessionOptions(configuration, getToken, (latest) => {
    offer = latest;
  });
  const options = { ...toTransportOptions(configuration, limits), customAuth };
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
      // No mail could be sent.
      if (needsUtf8(configuration.fromEmail) && offer?.smtpUtf8 !== true) {
        fail({ code: 'ESMTPUTF8' });
        return;
      }
      const mode = socket.secured ? 'implicit' : 'starttls';
      const authenticated = configuration.username !== undefined;
      resolve({ findings: { tls: connection.secure ? mode : null, authenticated } });
      connection.quit();
    };
    connection.on('error', fail);
    connection.once('end', () => {
      fail({ code: 'ECONNECTION' });
    });
    connection.connect((error) => {
      if (error) fail(error);
      else
        connection.login(auth, (loginError) => {
          if (loginError) fail(loginError);
          else succeed();
        });
    });
  });
}
