import { waitFor } from '@platform/testing';
import { Secret, TOTP } from 'otpauth';
import { connectAgent } from '../platform/connect-agent.js';
import type { Platform } from '../platform/platform.js';
import type { SmtpServer } from '../platform/smtp-server.js';
import { succeed } from '../platform/succeed.js';

export const CRAWL = '/api/v1/crawlingManager';
const PATS = '/api/v1/personal-access-tokens';

/** The credentials and ids that callers have got. */
export type Known = Awaited<ReturnType<typeof runScenario>>;

/** Returns the code that an authenticator app shows at a time. */
export const generateCode = (secret: string, timestamp = Date.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });

/** Queues a mail. @returns its id. */
export async function sendMail(url: string, token: string, subject: string): Promise<string> {
  const body = {
    emailTemplateType: 'loginWithOTP',
    sendEmailTo: ['ada@example.com'],
    subject,
    templateData: { otp: '493817' },
  };
  const answer = await succeed(`${url}/api/v1/mail/emails/sendEmail`, 'POST', {
    token,
    headers: { prefer: 'respond-async' },
    body,
  });
  return answer.body.data.id as string;
}

/** Does the main jobs of a platform. In the end, a mail waits for its SMTP server, and a run for its worker. */
export async function runScenario(
  platform: Pick<Platform, 'url' | 'session'>,
  admin: Credentials,
  smtp: SmtpServer,
) {
  const { url, session } = platform;
  const act = async (method: string, path: string, body?: object, token = session) =>
    (await succeed(url + path, method, { token, body })).body;
  const createToken = async (scopes: readonly string[], path = PATS) =>
    (await act('POST', path, { name: 'agent', scopes, expiryDays: 'never' })).token as {
      id: string;
      accessToken: string;
    };

  const member = { email: 'ada@example.com', password: 'correct-Horse-battery-9' };
  await act('POST', '/api/v1/users', { ...member, fullName: 'Ada Member' });
  const memberSession = (await act('POST', '/api/v1/auth/login', member)).accessToken as string;
  const factor = '/api/v1/auth/second-factor/totp';
  const { secret, enrolment } = await act('POST', factor, {}, memberSession);
  const { recoveryCodes } = await act(
    'POST',
    `${factor}/confirm`,
    { enrolment, code: generateCode(secret as string) },
    memberSession,
  );

  const token = await createToken(['user:read', 'crawl:read', 'crawl:write', 'crawl:work', 'SEND_MAIL']);
  const revoked = await createToken(['user:read']);
  await act('DELETE', `${PATS}/${revoked.id}`);
  const accounts = '/api/v1/service-accounts';
  const account = (await act('POST', accounts, { name: 'Sync', role: 'member' })).serviceAccount;
  const accountToken = await createToken(['user:read'], `${accounts}/${account.id}/tokens`);
  const application = await act('POST', '/api/v1/oauth-applications', {
    name: 'Nightly',
    grantTypes: ['client_credentials'],
    scopes: ['user:read'],
    role: 'member',
  });
  const agent = await connectAgent(url, admin, session, ['user:read', 'crawl:read']);
  await act('POST', '/api/v1/mcp-servers', {
    name: 'wiki',
    url: 'https://tools.example/mcp',
    credential: { kind: 'secret', value: 'Bearer of-the-wiki' },
  });
  const destination = { form: 'webhook', url: 'https://hooks.example/facts', isEnabled: false };
  await act('POST', '/api/v1/events/destinations', destination);

  await act('PUT', `${CRAWL}/wiki_1/instances/sales`, { displayName: 'Wiki of sales' });
  const daily = { scheduleType: 'daily', hour: 2, minute: 15, timezone: 'Europe/Berlin' };
  await act('POST', `${CRAWL}/wiki_1/instances/sales/schedule`, { scheduleConfig: daily });
  await act('POST', `${CRAWL}/wiki_1/instances/sales/run`, {});
  const completed = await waitFor(
    async () => {
      const { data } = await act('GET', `${CRAWL}/wiki_1/instances/sales/runs`);
      return data[0]?.outcome === 'completed' && (data[0].runId as string);
    },
    { what: 'the end of the run' },
  );
  await act('POST', `${CRAWL}/files_1/schedule`, { scheduleConfig: daily });
  await act('POST', `${CRAWL}/files_1/pause`);
  await act('POST', `${CRAWL}/chat_1/schedule`, { scheduleConfig: daily, worker: 'pull' });
  const waiting = (await act('POST', `${CRAWL}/chat_1/run`, {})).data.runId as string;

  const server = { host: '127.0.0.1', port: smtp.port, fromEmail: 'upgrade@example.com', tls: 'none' };
  await act('POST', '/api/v1/configurationManager/smtpConfig', server);
  await act('POST', '/api/v1/users', { email: 'grace@example.com', fullName: 'Grace Invited' });
  await act('PUT', '/api/v1/mail/brand', { name: 'Example', accentColor: '#336699' });
  const sent = await sendMail(url, token.accessToken, 'Sent before');
  await waitFor(() => smtp.subjects.includes('Sent before'), { what: 'the mail' });
  await smtp.goAway();
  const queued = await sendMail(url, token.accessToken, 'Queued before');
  await waitFor(
    async () => {
      const { data } = await act('GET', `/api/v1/mail/records/${queued}`);
      return data.state === 'queued' && data.attempts > 0;
    },
    { what: 'the end of the first attempt' },
  );
  return {
    url,
    member: { ...member, secret: secret as string, recoveryCode: (recoveryCodes as string[])[0] ?? '' },
    token: token.accessToken,
    revoked: revoked.accessToken,
    accountToken: accountToken.accessToken,
    application: {
      clientId: application.application.clientId as string,
      secret: application.clientSecret as string,
    },
    agent: { clientId: agent.clientId, refreshToken: agent.refreshToken },
    runs: { completed, waiting },
    mails: { sent, queued },
  };
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}
