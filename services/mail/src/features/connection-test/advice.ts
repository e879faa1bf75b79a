import { isCertificateFault, type SmtpProblem } from '@platform/events/facts';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { explainLogin, explainToken, toCodes } from './oauth-advice.js';
import type { Explanation } from './schemas.js';

/** Is the same for an unknown host and for a denied one, so that nobody can explore a network with connection tests. */
const noAddress = (server: string): Explanation => ({
  message: `${server} has no address that mail may be sent to`,
  advice:
    'Check the spelling of the host, and the port. Servers in private networks, and other ports than those of SMTP, have to be allowed by the operator of the mail service (SMTP_ALLOWED_TARGETS).',
});

const byDetail: Readonly<Record<string, (server: string) => Explanation>> = {
  ECONNREFUSED: (server) => ({
    message: `Nothing listens at ${server}`,
    advice: 'Check the host and the port: 587 with STARTTLS and 465 with implicit TLS are usual.',
  }),
};

function explainCertificate({ detail = '' }: SmtpProblem, { host }: SmtpConfiguration): Explanation {
  const message = `The certificate of ${host} was refused (${detail})`;
  if (detail === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return { message, advice: 'It is for another name: use the host name that is in the certificate.' };
  if (detail === 'CERT_HAS_EXPIRED')
    return { message, advice: 'It has expired: renew it at the SMTP server.' };
  if (detail === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return {
      message: `${host} doesn't speak TLS on this port`,
      advice: 'Choose STARTTLS or automatic encryption for this port.',
    };
  return {
    message,
    advice:
      "If it is from a private authority, give the mail service that authority's certificate in NODE_EXTRA_CA_CERTS.",
  };
}

/** Whether the server answered with an error code before it was asked for anything, or closed the connection with one. */
const isConnectionRefused = ({ code, reply = 0 }: SmtpProblem): boolean =>
  reply >= 400 && (code === 'EPROTOCOL' || code === 'ECONNECTION');

function explainRefusedConnection(problem: SmtpProblem, server: string): Explanation {
  const { reply = 0 } = problem;
  const codes = toCodes(problem);
  return reply < 500
    ? {
        message: `${server} takes no connections for now (${codes})`,
        advice:
          'It may be busy, or limit the connections of this service: wait a while, and look at its log.',
      }
    : {
        message: `${server} refuses connections from the mail service (${codes})`,
        advice: 'Allow the addresses of the mail service at the SMTP server; its log says more.',
      };
}

/** Explains a problem without quoting the server: see {@link SmtpProblem}. */
export function explain(problem: SmtpProblem, configuration: SmtpConfiguration): Explanation {
  const server = `${configuration.host}:${configuration.port}`;
  const known = byDetail[problem.detail ?? ''];
  if (known) return known(server);
  if (isCertificateFault(problem)) return explainCertificate(problem, configuration);
  if (isConnectionRefused(problem)) return explainRefusedConnection(problem, server);
  switch (problem.code) {
    case 'ETOKEN':
      return explainToken(problem, configuration);
    case 'EAUTH':
      return explainLogin(problem, configuration);
    case 'ETLS':
      return {
        message: 'The connection could not be secured',
        advice:
          'The server may not offer STARTTLS on this port: try port 587, or port 465 with implicit TLS. A login is sent in clear text only where no encryption is chosen.',
      };
    case 'ESMTPUTF8':
      return {
        message: `${server} does not support the sender's address (SMTPUTF8)`,
        advice: 'Choose a sender with ASCII characters before the @.',
      };
    case 'EDNS':
      return noAddress(server);
    case 'ETIMEDOUT':
      return {
        message: `${server} did not answer in time`,
        advice:
          'Check the port, and that no firewall is in between. With implicit TLS on a STARTTLS port, both sides wait.',
      };
    case 'EPROTOCOL':
      return {
        message: `${server} doesn't answer as an SMTP server does`,
        advice: 'Check the port and the encryption.',
      };
    default:
      return {
        message: `The connection to ${server} broke (${problem.code})`,
        advice: 'Check the port and the encryption, and the log of the SMTP server.',
      };
  }
}
