import type { SmtpProblem } from '@platform/events/facts';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import type { SmtpOauth } from '../smtp-configuration/oauth.js';
import type { Explanation } from './schemas.js';

type Provider = SmtpOauth['provider'];

const names: Readonly<Record<Provider, string>> = {
  microsoft: 'Microsoft',
  google: 'Google',
  custom: 'The provider',
};

const newRefreshToken = 'The refresh token has expired, was revoked or was used elsewhere: enter a new one.';
const wrongClient = 'Check the client id and the client secret.';

/** The advice for the codes of a token endpoint. The AADSTS codes are those of Microsoft Entra. */
const tokenAdvice: Readonly<Record<Provider, Readonly<Record<string, string>>>> = {
  microsoft: {
    AADSTS90002: 'There is no such tenant: enter the directory (tenant) id of the app registration.',
    AADSTS900021: 'There is no such tenant: enter the directory (tenant) id of the app registration.',
    AADSTS900023: 'There is no such tenant: enter the directory (tenant) id of the app registration.',
    AADSTS700016:
      'The tenant has no such application: enter the application (client) id of the app registration.',
    AADSTS7000215: "The client secret is wrong: enter the secret's value, not its id.",
    AADSTS7000222: 'The client secret has expired: create a new one in the app registration.',
    AADSTS700027:
      'The certificate is not one of the app registration: upload it there, or enter the right one.',
    AADSTS7000112: 'The application is disabled in the tenant: enable it under Enterprise applications.',
    AADSTS53003: 'A Conditional Access policy for workload identities blocks the application.',
    AADSTS1002016:
      'The certificate is not one of the app registration: upload it there, or enter the right one.',
    invalid_client: wrongClient,
  },
  google: {
    unauthorized_client:
      'Allow the client id of the service account the scope https://mail.google.com/ in the Admin console, under API controls, Domain-wide delegation.',
    invalid_grant:
      'The user name must be the mailbox of a user of the domain, and the key must not have been deleted.',
    access_denied:
      'Allow the client id of the service account the scope https://mail.google.com/ in the Admin console, under API controls, Domain-wide delegation.',
    invalid_client: 'The service account does not exist any more: create a new key.',
    invalid_key: 'The key cannot be read: create a new JSON key of the service account.',
  },
  custom: {
    invalid_grant: newRefreshToken,
    invalid_client: wrongClient,
    unauthorized_client: 'The client may not use refresh tokens: allow it at the provider.',
    invalid_scope: 'The provider does not know the scope, or does not grant it for this refresh token.',
  },
};

const networkAdvice: Readonly<Record<string, string>> = {
  no_address:
    'Check the host of the token URL. One in a private network, or without TLS, has to be allowed by the operator of the mail service (SMTP_TOKEN_ALLOWED_TARGETS).',
  timeout: 'It did not answer in time: try again.',
  unreachable: 'The connection to the token endpoint broke: check the token URL, and its certificate.',
  invalid_answer: 'The answer has no access token: check the token URL.',
};

/** Explains why there is no access token. */
export function explainToken({ detail = '' }: SmtpProblem, { oauth }: SmtpConfiguration): Explanation {
  const provider = oauth?.provider ?? 'custom';
  return {
    step: 'token',
    message: `${names[provider]} issued no access token (${detail})`,
    advice:
      tokenAdvice[provider][detail] ??
      networkAdvice[detail] ??
      'Check what is configured; the sign-in logs of the provider say more.',
  };
}

const switchedOff: Readonly<Record<string, Omit<Explanation, 'step'>>> = {
  SMTP_AUTH_DISABLED_FOR_TENANT: {
    message: 'SMTP AUTH is switched off for the whole Microsoft 365 organisation',
    advice:
      'Switch it on for the mailbox alone: in the Microsoft 365 admin center under Mail, Manage email apps, Authenticated SMTP; or Set-CASMailbox -SmtpClientAuthenticationDisabled $false.',
  },
  SMTP_AUTH_DISABLED_FOR_MAILBOX: {
    message: 'SMTP AUTH is switched off for the mailbox',
    advice:
      'Switch it on: in the Microsoft 365 admin center under Mail, Manage email apps, Authenticated SMTP; or Set-CASMailbox -SmtpClientAuthenticationDisabled $false.',
  },
  BASIC_AUTH_DISABLED: {
    message: 'Exchange Online takes no passwords for SMTP any more',
    advice: 'Choose to sign in with Microsoft 365.',
  },
};

/** The login of the configuration cannot be made on this connection: see `session.ts`. */
const impossible: Readonly<Record<string, Omit<Explanation, 'step'>>> = {
  LOGIN_NOT_OFFERED: {
    message: 'The server offers no login on this connection that the mail service can make',
    advice:
      'Many servers offer it over TLS only: choose STARTTLS or implicit TLS. Passwords need PLAIN, LOGIN or CRAM-MD5, access tokens XOAUTH2. Leave the user name empty for a server that wants no login.',
  },
  NO_PASSWORD: {
    message: 'The configuration has a user name and no password',
    advice: 'Enter the password, or leave the user name empty for a server that wants no login.',
  },
};

const permissionAdvice: Readonly<Record<Provider, string>> = {
  microsoft:
    'The application needs the permission SMTP.SendAsApp (Office 365 Exchange Online) with admin consent, a service principal in Exchange Online (New-ServicePrincipal, with the object id from Enterprise applications) and full access to the mailbox (Add-MailboxPermission). The user name must be the address of the mailbox. Changes can take an hour.',
  google:
    'The user name must be the primary address of a user with Gmail. Changes of the domain-wide delegation can take a day.',
  custom: 'Check the user name, and that the scope of the token allows SMTP.',
};

/** Returns the codes of the server's reply, for a message. */
export const toCodes = ({ reply, status }: SmtpProblem): string =>
  [reply, status].filter((part) => part !== undefined).join(' ');

/** Explains why the server refused the login. */
export function explainLogin(problem: SmtpProblem, { oauth }: SmtpConfiguration): Explanation {
  const { status, detail = '' } = problem;
  const fault = impossible[detail];
  if (fault) return { step: 'login', ...fault };
  const known = switchedOff[detail];
  if (known) return { step: 'smtp_auth', ...known };
  const code = toCodes(problem);
  const suffix = code === '' ? '' : ` (${code})`;
  if (oauth && status === '5.7.139')
    return {
      step: 'permission',
      message: `A policy of the tenant blocks the login${suffix}`,
      advice: 'Look for it in the sign-in logs of Microsoft Entra: security defaults or Conditional Access.',
    };
  if (oauth)
    return {
      step: 'permission',
      message: `The server refused the access token${suffix}`,
      advice: permissionAdvice[oauth.provider],
    };
  return {
    step: 'login',
    message: `The server refused the login${suffix}`,
    advice: 'Check the user name and the password; many providers want an app password here.',
  };
}
