import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type OwnPostgres, startOwnPostgres, waitFor } from '@platform/testing';
import pg from 'pg';
import { createFakeIdentity, type FakeIdentity } from '../fake-identity.js';
import { createMailDatabase, emailBody, mailEnvironment } from '../mail.js';
import { startService } from '../service-process.js';
import { type Behaviour, type SmtpUnderTest, startSmtp } from '../smtp-server.js';

/*
 * The ledger: what was accepted is sent, failed, unknown or queued, nothing is lost, and nothing is doubled unless its row
 * says that an outcome was unknown. Replicas are killed and PostgreSQL is restarted meanwhile.
 */
const MAILS = Number(process.env['LEDGER_MAILS'] ?? 400);
const ORGANISATIONS = 50;
const REPLICAS = 3;
/** In quick succession, each replica once; then there are two a minute, until all mails are accepted. */
const KILLS = 3;
/** PostgreSQL is restarted after this kill. */
const RESTART = 1;
/** Of 20,000 mails on a dedicated machine. In a short run, most codes are sent right after a kill. */
const CODES_P99_MS = MAILS >= 20_000 ? 2_000 : 30_000;

const mailFolder = fileURLToPath(new URL('../..', import.meta.url));

/** Each SMTP server misbehaves in its own way, but accepts a mail sooner or later. */
const behaviours: readonly Behaviour[] = [
  () => undefined,
  (step, _line, count) => (step === 'MAIL' && count % 4 === 0 ? '451 4.7.1 greylisted' : undefined),
  (step, _line, count) => (step === 'RCPT' && count % 5 === 0 ? 'close' : undefined),
  (step, _line, count) => (step === 'CHUNK' && count % 50 === 0 ? 'close' : undefined),
  (step, _line, count) => (step === 'MESSAGE' && count % 50 === 0 ? 'close' : undefined),
  (step, _line, count) => (step === 'DATA' && count % 50 === 0 ? 'hang' : undefined),
];

let postgres: OwnPostgres;
let identity: FakeIdentity;
const servers: SmtpUnderTest[] = [];
beforeAll(async () => {
  postgres = await startOwnPostgres();
  for (const behaviour of behaviours) servers.push(await startSmtp(behaviour));
  identity = await createFakeIdentity(ORGANISATIONS, (index) => servers[index % servers.length]?.port ?? 0);
});
afterAll(async () => {
  await identity.close();
  for (const server of servers) await server.close();
  await postgres.close();
});

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(Math.floor(values.length * part), values.length - 1)] ?? 0;

test('nothing that was accepted is lost, nothing is doubled unless its row says so, and codes do not wait', async () => {
  const database = await createMailDatabase(postgres.url());
  const db = new pg.Pool({ connectionString: database.url, max: 2 });
  db.on('error', () => undefined);
  const start = () =>
    startService(mailFolder, {
      ...mailEnvironment(database.url, identity.url),
      SMTP_TIMEOUT_MS: '3000',
      SENDS_MAX: '500',
    });
  const replicas = await Promise.all(Array.from({ length: REPLICAS }, start));
  /** The subjects of the mails that were answered 202. */
  const accepted = new Set<string>();
  /** From the request of a code, and from its 202, to its arrival. */
  const codeDelays = { asked: [] as number[], accepted: [] as number[] };

  async function send(subject: string, index: number, fields: object): Promise<boolean> {
    const replica = replicas[Math.floor(Math.random() * REPLICAS)];
    const response = await fetch(`${replica?.url ?? ''}/api/v1/mail/internal/sendEmail`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${identity.mint('SEND_MAIL')}`,
        'content-type': 'application/json',
        'idempotency-key': subject,
        prefer: 'respond-async',
      },
      body: JSON.stringify({ orgId: identity.organisations[index % ORGANISATIONS], ...fields, subject }),
    }).catch(() => undefined);
    if (response && response.status < 500 && response.status > 202)
      throw new Error(`a mail failed with ${response.status}: ${await response.text()}`);
    return response?.status === 202 || response?.status === 200;
  }

  /** Repeats a request with its key until it is answered: that is what a caller does who must not lose a mail. */
  async function accept(subject: string, index: number, fields: object): Promise<void> {
    for (; !(await send(subject, index, fields));) await delay(200);
    accepted.add(subject);
  }

  const notice = { ...emailBody(), emailTemplateType: 'accountCreation' };
  let next = 0;
  const sendNotices = async () => {
    for (let index = next++; index < MAILS; index = next++)
      await accept(`notice-${randomUUID()}`, index, notice);
  };
  const over = new AbortController();
  /** The first server behaves, so only the queue and the faults of the platform delay the codes of its organisations. */
  const sendCodes = async (organisation: number) => {
    while (!over.signal.aborted) {
      const subject = `code-${randomUUID()}`;
      const askedAt = performance.now();
      await accept(subject, organisation, emailBody());
      const acceptedAt = performance.now();
      const hasArrived = () => servers[0]?.accepted.some(({ raw }) => raw.includes(subject));
      await waitFor(async () => hasArrived() || (await isUnknown(subject)), {
        what: 'the code',
        patienceMs: 180_000,
      });
      if (!hasArrived()) continue;
      codeDelays.asked.push(performance.now() - askedAt);
      codeDelays.accepted.push(performance.now() - acceptedAt);
      await delay(50);
    }
  };
  /** The outcome of a code whose replica was killed after DATA: it is not sent again. */
  const isUnknown = async (subject: string): Promise<boolean> =>
    (await db.query(`select from mails where subject = $1 and state = 'unknown'`, [subject])).rowCount === 1;
  await db.query(`create index on mails (subject) where state = 'unknown'`);
  const isAccepting = () => next < MAILS;
  const breakThings = async () => {
    for (let kill = 0; kill < KILLS || isAccepting(); kill += 1) {
      await delay(kill < KILLS ? 1_500 : 30_000);
      const index = kill % REPLICAS;
      await replicas[index]?.stop('SIGKILL');
      replicas[index] = await start();
      if (kill !== RESTART) continue;
      await postgres.stop();
      await postgres.start();
    }
  };
  const codes = Promise.all(
    Array.from({ length: ORGANISATIONS }, (_value, index) => index)
      .filter((index) => index % (2 * servers.length) === 0)
      .map(sendCodes),
  );
  await Promise.all([...Array.from({ length: 20 }, sendNotices), breakThings()]);
  over.abort();
  await codes;

  // What was deferred is due in a minute; the leases of killed replicas end within half a minute.
  await waitFor(
    async () => {
      await db.query(
        `update mails set next_attempt_at = now() where state = 'queued' and next_attempt_at > now()`,
      );
      return (await db.query(`select from mails where state in ('queued', 'sending')`)).rowCount === 0;
    },
    { what: 'the end of all mails', patienceMs: 180_000, intervalMs: 500 },
  );
  const { rows } = await db.query<{ subject: string; state: string; unknown: number }>(
    'select subject, state, unknown_attempts as unknown from mails',
  );
  const arrivals = new Map<string, number>();
  for (const { raw } of servers.flatMap((server) => server.accepted)) {
    const subject = /^Subject: (.*)\r$/m.exec(raw)?.[1] ?? '';
    arrivals.set(subject, (arrivals.get(subject) ?? 0) + 1);
  }
  const stored = new Map(rows.map((row) => [row.subject, row]));
  const count = (subject: string): number => arrivals.get(subject) ?? 0;
  const lost = [...accepted].filter((subject) => {
    const row = stored.get(subject);
    return !row || (row.state === 'sent' && count(subject) === 0);
  });
  const doubled = [...arrivals].filter(([subject, times]) => times > 1 && !stored.get(subject)?.unknown);
  const states = ['sent', 'failed', 'unknown'].map(
    (state) => `${rows.filter((row) => row.state === state).length} ${state}`,
  );
  const repeated = [...arrivals.values()].filter((times) => times > 1).length;
  const describeDelays = (delays: readonly number[]): string =>
    [0.5, 0.99, 1].map((part) => Math.round(percentile(delays, part))).join(', ');
  process.stdout.write(
    `ledger: ${accepted.size} accepted: ${states.join(', ')}; lost ${lost.length}; doubled ${repeated}, ` +
      `${doubled.length} of them without an unknown outcome; ` +
      `p50, p99 and longest of ${codeDelays.asked.length} codes, in ms: ${describeDelays(codeDelays.asked)} from the ` +
      `request, ${describeDelays(codeDelays.accepted)} from the 202\n`,
  );
  expect([lost, doubled]).toEqual([[], []]);
  // Each mail is one row, the servers refuse none for good, and an outcome is unknown only where a message was cut off.
  expect([stored.size, rows.filter(({ state }) => state === 'failed')]).toEqual([rows.length, []]);
  expect(rows.filter(({ state, unknown }) => state === 'unknown' && unknown === 0)).toEqual([]);
  expect([...arrivals.keys()].filter((subject) => !stored.has(subject))).toEqual([]);
  expect(percentile(codeDelays.asked, 0.99)).toBeLessThan(CODES_P99_MS);
  await Promise.all(replicas.map((replica) => replica.stop()));
  await db.end();
  await database.drop();
});
