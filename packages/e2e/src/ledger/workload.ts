import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { CallAnswer, Caller } from './calls.js';
import { ADMIN } from './rig.js';
import type { Responses } from './responses.js';

const SECOND = 1_000;
const EVERY_MINUTE = ['wiki_1', 'mail_1', 'files_1', 'chat_1'];
const MANUAL = ['files_2', 'files_3', 'files_4', 'mail_2'];
/** The connector whose schedule is replaced all the time. */
export const REPLACED = 'db_1';
/** The kind of the requests that have to be refused. */
export const REVOKED_USE = 'token: use once revoked';
const API = '/api/v1';
const REVOKE_TRIES = 60;
const MAIL_TRIES = 60;
/** The platform asks to try again, has not answered, or (409) is still busy with the try before. */
const isRetryable = (status: number): boolean => [0, 408, 409, 425, 429, 502, 503, 504].includes(status);

export type Workload = Awaited<ReturnType<typeof startWorkload>>;

/** Sets the organisation up, and repeats every main job until it is stopped. `rate` 1 is about 20 requests a second. */
export async function startWorkload({ call }: Caller, smtpPort: number, rate: number) {
  const responses: Responses = {
    tokens: [],
    mails: [],
    runs: [],
    writes: [],
    everyMinute: { connectors: EVERY_MINUTE, since: 0 },
  };
  const login = await expectOk(call('sign in', `${API}/auth/login`, { body: ADMIN }));
  const session = login.body.accessToken as string;
  const createToken = (name: string, scopes: readonly string[]) =>
    call('token: create', `${API}/personal-access-tokens`, {
      token: session,
      body: { name, scopes, expiryDays: 30 },
    });
  const schedule = (connector: string, scheduleConfig: object, metadata?: object) =>
    call('schedule', `${API}/crawlingManager/${connector}/schedule`, {
      token: session,
      body: { scheduleConfig, ...(metadata && { metadata }) },
    });

  const smtp = { host: '127.0.0.1', port: smtpPort, fromEmail: 'ledger@example.com', tls: 'none' };
  await expectOk(call('set up', `${API}/configurationManager/smtpConfig`, { token: session, body: smtp }));
  for (const connector of EVERY_MINUTE)
    await expectOk(schedule(connector, { scheduleType: 'custom', cronExpression: '* * * * *' }));
  for (const connector of MANUAL)
    await expectOk(schedule(connector, { scheduleType: 'monthly', dayOfMonth: 1, hour: 0, minute: 0 }));
  const reader = await expectOk(createToken('reader', ['user:read', 'crawl:read']));
  const mailer = await expectOk(createToken('mailer', ['SEND_MAIL']));
  const readToken = reader.body.token.accessToken as string;
  const mailToken = mailer.body.token.accessToken as string;
  responses.everyMinute.since = Date.now();

  /** A token is created, used, revoked until that is confirmed, and then refused everywhere. */
  async function useToken(): Promise<void> {
    const name = `ledger ${randomUUID()}`;
    const entry: Responses['tokens'][number] = { name, created: 0, refusedAlive: 0, admitted: 0 };
    responses.tokens.push(entry);
    const created = await createToken(name, ['user:read', 'crawl:read', 'SEND_MAIL']);
    entry.created = created.status;
    if (created.status !== 201) return;
    const { id, accessToken: token } = created.body.token as { id: string; accessToken: string };
    entry.id = id;
    const useEverywhere = (kind: string) =>
      Promise.all([
        call(kind, `${API}/users/me`, { token }),
        call(kind, `${API}/crawlingManager/stats`, { token }),
        call(kind, `${API}/mail/records?limit=1`, { token }),
        callTool(kind, token),
      ]);
    for (let count = 0; count < 2; count += 1) {
      const answers = await useEverywhere('token: use');
      entry.refusedAlive += answers.filter(({ status }) => status === 401).length;
      await delay(SECOND);
    }
    for (let tries = 0; tries < REVOKE_TRIES; tries += 1) {
      const path = `${API}/personal-access-tokens/${id}`;
      entry.revoked = (await call('token: revoke', path, { method: 'DELETE', token: session })).status;
      if (!isRetryable(entry.revoked)) break;
      await delay(SECOND);
    }
    if (entry.revoked !== 200) return;
    for (const pauseMs of [0, 0.2 * SECOND, 2 * SECOND]) {
      await delay(pauseMs);
      const answers = await useEverywhere(REVOKED_USE);
      entry.admitted += answers.filter(({ status }) => status === 200).length;
    }
  }

  const callTool = (kind: string, token: string): Promise<CallAnswer> =>
    call(kind, '/mcp', {
      token,
      headers: { accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } },
    });

  /** A mail is sent with an idempotency key, and repeated with the same one while the platform asks for that. */
  async function sendMail(): Promise<void> {
    const subject = `ledger-${randomUUID()}`;
    const entry: Responses['mails'][number] = { subject, status: 0 };
    responses.mails.push(entry);
    for (let tries = 0; tries < MAIL_TRIES; tries += 1) {
      const { status, code } = await call('mail: send', `${API}/mail/emails/sendEmail`, {
        token: mailToken,
        headers: { 'idempotency-key': subject },
        body: {
          emailTemplateType: 'loginWithOTP',
          sendEmailTo: ['ada@example.com'],
          subject,
          templateData: { userName: 'Ada', companyName: 'Example', otp: '493817' },
        },
      });
      Object.assign(entry, { status, code });
      if (!isRetryable(status)) return;
      await delay(SECOND);
    }
  }

  async function runNow(connector: string): Promise<void> {
    const path = `${API}/crawlingManager/${connector}/run`;
    const { status, body } = await call('crawl: run now', path, { token: session, body: {} });
    responses.runs.push({ connector, status, runId: body?.data?.runId as string | undefined });
  }

  async function replaceSchedule(n: number): Promise<void> {
    const config = { scheduleType: 'daily', hour: n % 24, minute: n % 60 };
    responses.writes.push({ n, status: (await schedule(REPLACED, config, { n })).status });
  }

  const stopping = new AbortController();
  // Each job waits for it.
  setMaxListeners(0, stopping.signal);
  const jobs: Promise<void>[] = [];
  /** Begins the work at a fixed rate, however long it takes. */
  const repeat = (seconds: number, work: (n: number) => Promise<unknown>): void => {
    const intervalMs = (seconds * SECOND) / rate;
    const loop = async (): Promise<void> => {
      const begun: Promise<unknown>[] = [];
      const startedAt = Date.now() + Math.random() * intervalMs;
      for (let n = 0; !stopping.signal.aborted; n += 1) {
        const waitMs = Math.max(0, startedAt + n * intervalMs - Date.now());
        await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (!stopping.signal.aborted) begun.push(work(n));
      }
      await Promise.all(begun);
    };
    jobs.push(loop());
  };
  repeat(0.2, () => call('read: identity', `${API}/users/me`, { token: readToken }));
  repeat(0.4, () => callTool('read: tool', readToken));
  repeat(0.4, () => call('read: crawl', `${API}/crawlingManager/wiki_1/schedule`, { token: readToken }));
  repeat(1, () => call('read: mail', `${API}/mail/records?limit=5`, { token: mailToken }));
  repeat(2, useToken);
  repeat(1, sendMail);
  for (const connector of MANUAL) repeat(8, () => runNow(connector));
  // One after the other, so that the order of the answers is that of the writes.
  let written: Promise<void> = Promise.resolve();
  repeat(3, (n) => (written = written.then(() => replaceSchedule(n))));

  return {
    responses,
    session,
    mailToken,
    connectors: [...EVERY_MINUTE, ...MANUAL, REPLACED],
    /** Begins nothing more, and returns when all that was begun has ended. */
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(jobs);
    },
  };
}

async function expectOk(answering: Promise<CallAnswer>): Promise<CallAnswer> {
  const answer = await answering;
  if (answer.status >= 300 || answer.status === 0)
    throw new Error(`The set-up failed: ${answer.kind} was answered ${answer.status} ${answer.code}`);
  return answer;
}
