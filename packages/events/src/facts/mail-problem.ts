/**
 * Why a mail was not sent, as logs, records and facts have it. It leaves out the server's text, because a server that
 * repeats the AUTH line would put the password there.
 */
export interface SmtpProblem {
  /** nodemailer's code, such as ECONNECTION, EAUTH, EENVELOPE. */
  readonly code: string;
  /** The underlying system or TLS code, such as ECONNREFUSED or CERT_HAS_EXPIRED; of ETOKEN, that of the provider. */
  readonly detail?: string;
  /** The SMTP command that failed. */
  readonly command?: string;
  /** The SMTP reply code (RFC 5321 §4.2). */
  readonly reply?: number;
  /** The enhanced status code (RFC 3463), such as 5.1.1: digits only. */
  readonly status?: string;
}

/** Returns whether OpenSSL or Node rejected the certificate. */
export const isCertificateFault = ({ detail = '' }: SmtpProblem): boolean =>
  /CERT|ERR_TLS|ERR_SSL|UNABLE_TO_|SELF_SIGNED/.test(detail);

/** Describes the enhanced status codes (RFC 3463 §3) that deserve a specific message. */
const byStatus: Readonly<Record<string, string>> = {
  '5.1.1': 'The recipient does not exist',
  '5.1.2': "The recipient's domain does not exist, or takes no mail",
  '5.1.3': 'The address of the recipient is not one',
  '5.1.10': "The recipient's domain takes no mail",
  '5.2.1': "The recipient's mailbox is disabled",
  '5.2.2': "The recipient's mailbox is full",
  '5.2.3': 'The mail is too large for the recipient',
  '5.3.4': 'The mail is too large for the server',
  '5.4.1': 'The server does not take mail for the recipient',
  '5.2.252': 'The account may not send as the sender address',
  '5.7.60': 'The account may not send as the sender address',
  '5.7.1': 'The server refused the mail by its rules',
};

const byCommand: Readonly<Record<string, string>> = {
  'MAIL FROM': 'The server refused the sender',
  'RCPT TO': 'The server refused the recipients',
  DATA: 'The server refused the mail',
};

/** Describes a server that refuses the connection, at its greeting or later (RFC 5321 §3.1, §3.8). */
const toRefusedConnection = (reply: number): string =>
  reply < 500 ? 'The server takes no connections for now' : 'The server refuses connections from here';

const connectionCodes: ReadonlySet<string> = new Set(['EPROTOCOL', 'ECONNECTION']);

/** Logins that the configuration asks for, and that cannot be made. */
const byDetail: Readonly<Record<string, string>> = {
  LOGIN_NOT_OFFERED: 'The server offers no login on this connection that the mail service can make',
  NO_PASSWORD: 'The configuration has a user name and no password',
};

const byCode: Readonly<Record<string, string>> = {
  EAUTH: 'The server refused the login',
  ETOKEN: 'The provider issued no access token',
  EDNS: 'The SMTP server has no address that mail may be sent to',
  ETIMEDOUT: 'The server did not answer in time',
  ETLS: 'The connection could not be secured',
  ESMTPUTF8: 'The server does not support international addresses (SMTPUTF8)',
  ETOOLARGE: 'The mail is too large for the server',
  EPROTOCOL: 'The server does not answer as an SMTP server does',
  ECONFIG: 'There is no complete SMTP configuration, or it could not be read',
  EREJECTED: 'The mail service refused it, because it is too large or malformed',
  EEXPIRED: 'It could not be sent before it expired',
  EREQUEST: 'Its request cannot be read, because no key opens it',
  EINVALID: 'This version of the service cannot render its request',
  ENORECIPIENT: 'No recipient is left to send it to',
  ESUPPRESSED: 'Every recipient is suppressed: to send to one again, remove its suppression',
};

/** Describes a failure in one sentence without quoting the server, whose text may contain a password. */
export function describeProblem(problem: SmtpProblem): string {
  const { code, command = '', reply, status = '', detail = '' } = problem;
  if (reply !== undefined && byStatus[status] !== undefined) return byStatus[status];
  if (reply !== undefined && reply >= 400 && byCommand[command] !== undefined) return byCommand[command];
  if (reply !== undefined && reply >= 400 && connectionCodes.has(code)) return toRefusedConnection(reply);
  if (isCertificateFault(problem)) return "The server's certificate was refused";
  return byDetail[detail] ?? byCode[code] ?? 'The connection to the server broke';
}

/** Describes a failure together with the codes of the server's reply. */
export function explainProblem(problem: SmtpProblem): string {
  const codes = [problem.reply, problem.status].filter((code) => code !== undefined);
  return codes.length === 0 ? describeProblem(problem) : `${describeProblem(problem)} (${codes.join(' ')})`;
}
