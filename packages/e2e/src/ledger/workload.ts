import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '@platform/testing';
import type { CallAnswer, Caller } from './calls.js';
import { SCHEDULE, TOKEN, WORK } from './check.js';
import type { Responses } from './responses.js';
import { ADMIN } from './rig.js';

const SECOND = 1_000;
const EVERY_MINUTE = ['wiki_1', 'mail_1', 'files_1', 'chat_1'];
const MANUAL = ['files_2', 'files_3', 'files_4', 'mail_2'];
/** The connector whose schedule is replaced all the time. */
const REPLACED = 'db_1';
/** The connector whose runs are claimed by workers that pull. */
const PULLED = 'code_1';
/** Longer than the lease of a run. */
const OVERSLEPT_MS = 8 * SECOND;
const OVERSLEEPING_SHARE = 0.1;
const API = '/api/v1';
const REVOKE_TRIES = 60;
const MAIL_TRIES = 60;
/** The platform asks to try again, has not answered, or (409) is still busy with the try before. */
const isRetryable = (status: number): boolean => [0, 408, 409, 425, 429, 502, 503, 504].includes(status);

export type Workload = Awaited<ReturnType<typeof startWorkload>>;

export interface WorkloadOptions {
  readonly smtpPort: number;
  /** Decides the choices of the workload. */
  readonly seed: number;
  /** 1 is about 20 requests a second. */
  readonly rate: number;
}

/** Sets the organisation up, and repeats every main job until it is stopped. */
export async function startWorkload({ call }: Caller, { smtpPort, seed, rate }: WorkloadOptions) {
  const random = createRandom(seed);
  const responses: Responses = {
    tokens: [],
    mails: [],
    runs: [],
    everyMinute: { connectors: EVERY_MINUTE, since: 0 },
  };
  const login = await expectOk(call('sign in', `${API}/auth/login`, { body: ADMIN }));
  const session = login.body.accessToken as string;
  const createToken = (name: string, scopes: readonly string[]) =>
    call('token: create', `${API}/personal-access-tokens`, {
      token: session,
      object: `token ${name}`,
      body: { name, scopes, expiryDays: 30 },
    });
  const crawl = `${API}/crawlingManager`;
  const schedule = (connector: string, scheduleConfig: object, more: object = {}) =>
    call('schedule: create', `${crawl}/${connector}/schedule`, {
      token: session,
      body: { scheduleConfig, ...more },
    });

  const smtp = { host: '127.0.0.1', port: smtpPort, fromEmail: 'ledger@example.com', tls: 'none' };
  await expectOk(call('set up', `${API}/configurationManager/smtpConfig`, { token: session, body: smtp }));
  for (const connector of EVERY_MINUTE)
    await expectOk(schedule(connector, { scheduleType: 'custom', cronExpression: '* * * * *' }));
  const monthly = { scheduleType: 'monthly', dayOfMonth: 1, hour: 0, minute: 0 };
  for (const connector of MANUAL) await expectOk(schedule(connector, monthly));
  await expectOk(schedule(PULLED, monthly, { worker: 'pull' }));
  const reader = await expectOk(createToken('reader', ['user:read', 'crawl:read']));
  const mailer = await expectOk(createToken('mailer', ['SEND_MAIL']));
  const puller = await expectOk(createToken('puller', ['crawl:work']));
  const readToken = reader.body.token.accessToken as string;
  const mailToken = mailer.body.token.accessToken as string;
  const workToken = puller.body.token.accessToken as string;
  responses.everyMinute.since = Date.now();

  /** A token is created, used, revoked until that is confirmed, and then refused everywhere. */
  async function useToken(): Promise<void> {
    const name = `ledger ${randomUUID()}`;
    const entry: Responses['tokens'][number] = { name, created: 0 };
    responses.tokens.push(entry);
    const created = await createToken(name, ['user:read', 'crawl:read', 'SEND_MAIL']);
    entry.created = created.status;
    if (created.status !== 201) return;
    const { id, accessToken: token } = created.body.token as { id: string; accessToken: string };
    entry.id = id;
    const object = `token ${name}`;
    const useEverywhere = (kind: string) =>
      Promise.all([
        call(kind, `${API}/users/me`, { token, object }),
        call(kind, `${crawl}/stats`, { token, object }),
        call(kind, `${API}/mail/records?limit=1`, { token, object }),
        callTool(kind, token, object),
      ]);
    for (let count = 0; count < 2; count += 1) {
      await useEverywhere(TOKEN.use);
      await delay(SECOND);
    }
    const revoke = async (): Promise<void> => {
      for (let tries = 0; tries < REVOKE_TRIES; tries += 1) {
        const path = `${API}/personal-access-tokens/${id}`;
        entry.revoked = (await call(TOKEN.revoke, path, { method: 'DELETE', token: session, object })).status;
        if (!isRetryable(entry.revoked)) return;
        await delay(SECOND);
      }
    };
    await Promise.all([revoke(), useEverywhere(TOKEN.useOnceRevoked)]);
    if (entry.revoked !== 200) return;
    for (const pauseMs of [0, 0.2 * SECOND, 2 * SECOND]) {
      await delay(pauseMs);
      await useEverywhere(TOKEN.useOnceRevoked);
    }
  }

  const callTool = (kind: string, token: string, object?: string): Promise<CallAnswer> =>
    call(kind, '/mcp', {
      token,
      ...(object !== undefined && { object }),
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
    const path = `${crawl}/${connector}/run`;
    const { status, body } = await call('crawl: run now', path, { token: session, body: {} });
    responses.runs.push({ connector, status, runId: body?.data?.runId as string | undefined });
  }

  const replaced = { token: session, object: `schedule of ${REPLACED}` };
  const replaceSchedule = (n: number) =>
    call(SCHEDULE.write, `${crawl}/${REPLACED}/schedule`, {
      ...replaced,
      value: n,
      body: {
        scheduleConfig: { scheduleType: 'daily', hour: n % 24, minute: n % 60 },
        metadata: { n },
      },
    });
  const readSchedule = () =>
    call(SCHEDULE.read, `${crawl}/${REPLACED}/schedule`, {
      ...replaced,
      read: (body) => body.data.data.metadata.n as number,
    });

  let claims = 0;
  let checkpoints = 0;
  /** A worker claims a run, reports a checkpoint, and ends its slice with another one: sometimes after its lease is over. */
  async function pullRun(worker: string): Promise<void> {
    const object = `checkpoint of ${PULLED}`;
    const claim = (claims += 1);
    const isOversleeping = random() < OVERSLEEPING_SHARE;
    const state = random() < 0.5 ? 'continue' : 'completed';
    const claimed = await call(WORK.claim, `${crawl}/work/claim`, {
      token: workToken,
      object,
      body: { connectors: [PULLED], worker, waitMs: 2 * SECOND },
      read: (body) => body && { claim, checkpoint: body.order.checkpoint as number | null },
    });
    if (claimed.status !== 200) return;
    const { order, lease } = claimed.body as { order: { runId: string }; lease: string };
    const report = (kind: string, end: string, body: object): Promise<CallAnswer> => {
      const checkpoint = (checkpoints += 1);
      return call(kind, `${crawl}/work/${order.runId}/${end}`, {
        token: workToken,
        object,
        value: { claim, checkpoint },
        body: { lease, checkpoint, ...body },
      });
    };
    await report(WORK.heartbeat, 'heartbeat', {});
    await delay(isOversleeping ? OVERSLEPT_MS : 0.5 * SECOND);
    await report(WORK.finish, 'finish', { state });
  }

  await expectOk(replaceSchedule(0));
  const stopping = new AbortController();
  // Each job waits for it.
  setMaxListeners(0, stopping.signal);
  const jobs: Promise<void>[] = [];
  /** Begins the work at a fixed rate, however long it takes. */
  const repeat = (seconds: number, work: (n: number) => Promise<unknown>): void => {
    const intervalMs = (seconds * SECOND) / rate;
    const loop = async (): Promise<void> => {
      const begun: Promise<unknown>[] = [];
      const startedAt = Date.now() + random() * intervalMs;
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
  repeat(0.4, () => call('read: crawl', `${crawl}/wiki_1/schedule`, { token: readToken }));
  repeat(1, () => call('read: mail', `${API}/mail/records?limit=5`, { token: mailToken }));
  repeat(2, useToken);
  repeat(1, sendMail);
  for (const connector of MANUAL) repeat(8, () => runNow(connector));
  repeat(1.5, (n) => replaceSchedule(n + 1));
  repeat(1, readSchedule);
  repeat(4, () => runNow(PULLED));
  for (const worker of ['puller 1', 'puller 2']) repeat(4, () => pullRun(worker));

  return {
    responses,
    session,
    mailToken,
    connectors: [...EVERY_MINUTE, ...MANUAL, REPLACED, PULLED],
    /** Reads the schedule once more: what was confirmed last must be there. */
    readOnce: readSchedule,
    /** Claims a run that was left when the workers stopped. */
    pullOnce: () => pullRun('puller 1'),
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
