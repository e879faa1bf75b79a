/** Where the platform's mail is caught. */
export interface SmtpDefault {
  readonly identityUrl: string;
  readonly adminEmail: string;
  /** Undefined when it isn't kept: then the start that knew it has done this. */
  readonly adminPassword: string | undefined;
  readonly smtpPort: number;
}

const HOST = '127.0.0.1';
const CONFIG_PATH = '/api/v1/configurationManager/smtpConfig';

/**
 * Makes the SMTP catcher the server of the first organisation, when that has none. Never overwrites.
 *
 * @returns what the person at the terminal should know, if anything
 */
export async function setSmtpDefault(options: SmtpDefault): Promise<string | undefined> {
  const { identityUrl, adminEmail, adminPassword, smtpPort } = options;
  if (adminPassword === undefined) return undefined;
  const call = (method: string, path: string, session: string | undefined, body?: unknown) =>
    fetch(`${identityUrl}${path}`, {
      method,
      headers: {
        ...(session !== undefined && { authorization: `Bearer ${session}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const login = await call('POST', '/api/v1/auth/login', undefined, {
    email: adminEmail,
    password: adminPassword,
  });
  if (!login.ok)
    return `the password kept for ${adminEmail} doesn't log in any more, so the organisation's SMTP server was not looked at.`;
  const { accessToken: session } = (await login.json()) as { accessToken: string };
  try {
    const current = await call('GET', CONFIG_PATH, session);
    if (current.ok) return describeOther(await current.json(), smtpPort);
    if (current.status !== 404) return `the organisation's SMTP server can't be read: ${current.status}.`;
    const config = { host: HOST, port: smtpPort, fromEmail: 'noreply@example.com', tls: 'none' };
    const saved = await call('POST', CONFIG_PATH, session, config);
    return saved.ok ? undefined : `the organisation's SMTP server can't be set: ${await saved.text()}`;
  } finally {
    await call('POST', '/api/v1/auth/logout', session);
  }
}

function describeOther(answer: unknown, smtpPort: number): string | undefined {
  const { host, port } = (answer as { smtp: { host: string; port: number } }).smtp;
  return host === HOST && port === smtpPort
    ? undefined
    : `the organisation's SMTP server is ${host}:${port}, so its mail does not come to the inbox.`;
}
