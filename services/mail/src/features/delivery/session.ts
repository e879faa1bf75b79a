import { createHmac } from 'node:crypto';
import type { SMTPConnectionCustomAuthContext as Context } from 'nodemailer/lib/smtp-connection';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';

/** What a server said in its reply to EHLO (RFC 5321 §4.1.1.1). */
export interface ServerOffer {
  /** Whether it takes addresses with Unicode before the `@` (RFC 6531). */
  readonly smtpUtf8: boolean;
  /** The largest message that it takes (RFC 1870); undefined when it named none. */
  readonly maxBytes: number | undefined;
}

/** Returns an access token to sign in with. @param isRefused - whether the server has refused the present one. */
export type GetAccessToken = (isRefused: boolean) => Promise<string>;

/** A login that the configuration asks for, and that cannot be made: see `explainLogin`. */
class LoginFault extends Error {
  override readonly name = 'LoginFault';
  constructor(readonly code: 'LOGIN_NOT_OFFERED' | 'NO_PASSWORD') {
    super(code);
  }
}

const toBase64 = (text: string): string => Buffer.from(text).toString('base64');

/** The mechanisms for a password, the preferred one first. Each sends its commands and returns the last reply code. */
const passwordMechanisms: readonly (readonly [
  name: string,
  run: (send: Context['sendCommand'], user: string, password: string) => Promise<number>,
])[] = [
  // RFC 4616
  [
    'PLAIN',
    async (send, user, password) => (await send(`AUTH PLAIN ${toBase64(`\0${user}\0${password}`)}`)).status,
  ],
  // draft-murchison-sasl-login
  [
    'LOGIN',
    async (send, user, password) => {
      let { status } = await send('AUTH LOGIN');
      for (const answer of [user, password]) if (status === 334) ({ status } = await send(toBase64(answer)));
      return status;
    },
  ],
  // RFC 2195
  [
    'CRAM-MD5',
    async (send, user, password) => {
      const { status, text } = await send('AUTH CRAM-MD5');
      if (status !== 334) return status;
      const digest = createHmac('md5', password).update(Buffer.from(text, 'base64')).digest('hex');
      return (await send(toBase64(`${user} ${digest}`))).status;
    },
  ],
];

const isAccepted = (status: number): boolean => status >= 200 && status < 300;

/** Signs in by XOAUTH2. A server that refuses the token says why in a challenge, and refuses the login after an empty answer. */
async function runXoauth2(send: Context['sendCommand'], user: string, token: string): Promise<boolean> {
  const { status } = await send(
    `AUTH XOAUTH2 ${toBase64(`user=${user}\u0001auth=Bearer ${token}\u0001\u0001`)}`,
  );
  return isAccepted(status === 334 ? (await send('')).status : status);
}

async function logIn(
  { authMethods, sendCommand }: Context,
  { username, password, oauth }: SmtpConfiguration,
  getToken: GetAccessToken | undefined,
): Promise<void> {
  if (username === undefined) return;
  if (oauth && getToken) {
    if (!authMethods.includes('XOAUTH2')) throw new LoginFault('LOGIN_NOT_OFFERED');
    const token = await getToken(false);
    if (await runXoauth2(sendCommand, username, token)) return;
    const next = await getToken(true);
    if (next !== token && (await runXoauth2(sendCommand, username, next))) return;
    throw new Error('The server refused the access token');
  }
  const mechanism = passwordMechanisms.find(([name]) => authMethods.includes(name));
  if (!mechanism) throw new LoginFault('LOGIN_NOT_OFFERED');
  if (password === undefined) throw new LoginFault('NO_PASSWORD');
  if (!isAccepted(await mechanism[1](sendCommand, username, password)))
    throw new Error('The server refused the login');
}

const METHOD = 'SIGN-IN';

/**
 * Returns nodemailer's options with which each connection begins here, after EHLO and STARTTLS. nodemailer's own login is left
 * out when the server offers none, and sends a password by AUTH PLAIN when the server offers only mechanisms that nodemailer
 * doesn't know. A configured login that cannot be made is a fault of the configuration, before MAIL FROM.
 *
 * @param onOffer - called with what the server offers, for each connection.
 */
export function toSessionOptions(
  configuration: SmtpConfiguration,
  getToken: GetAccessToken | undefined,
  onOffer: (offer: ServerOffer) => void,
) {
  const begin = async (context: Context): Promise<void> => {
    const { extensions, maxAllowedSize } = context;
    onOffer({
      smtpUtf8: extensions.includes('SMTPUTF8'),
      maxBytes: maxAllowedSize === false ? undefined : maxAllowedSize,
    });
    await logIn(context, configuration, getToken);
  };
  // nodemailer wants a user here, and hands it to the function, which doesn't need it.
  return {
    auth: { type: 'custom', user: METHOD, pass: '', method: METHOD },
    forceAuth: true,
    customAuth: { [METHOD]: begin },
  };
}
