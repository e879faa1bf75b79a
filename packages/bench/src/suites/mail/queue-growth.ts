import { type AddressInfo, createServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { alternate } from '../../load/alternate.js';
import { load } from '../../load/load.js';
import type { Fixture } from '../../runner/fixture.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { execute, fillTables } from '../../servers/service.js';
import { startMail, startSink, waitUntilSent } from './environment.js';
import { type FakeIdentity, startFakeIdentity } from './fake-identity.js';
import { letter } from './submission.js';

const FEW = 1_000;
const MANY = 1_000_000;
const ORGANISATIONS = 1_000;
/** An organisation has at most 10,000 mails in the queue by default. */
const SILENT_ORGANISATIONS = 100;
/** Real mails of each of them, which are due before the others: more than are tried while the benchmark runs. */
const TRIED_MAILS = 40;
/** How long an attempt waits for a silent server, so that the first ones end before the load. */
const SILENT_TIMEOUT_MS = 5_000;
/** The size of a turn, for each of its seconds. */
const MAILS_PER_SECOND = 60;

/** Queued mails of other organisations. */
interface Others {
  readonly name: string;
  readonly organisations: number;
  /** The ids of the organisations, up to their number. */
  readonly prefix: string;
  /** When the first of them is tried next. */
  readonly dueAt: string;
  readonly priority: string;
}
const waiting: Others = {
  name: 'waiting',
  organisations: ORGANISATIONS,
  prefix: '0190a0b0-0001-7000-8000-',
  dueAt: `now() + interval '1 hour'`,
  priority: `number / ${ORGANISATIONS} % 3`,
};
const due: Others = {
  name: 'due',
  organisations: SILENT_ORGANISATIONS,
  prefix: '0190a0b0-0000-7000-8000-',
  // By then, the real mails are in the queue.
  dueAt: `now() + interval '1 minute'`,
  priority: '2',
};

const toInsertMails = ({ organisations, prefix, dueAt, priority }: Others) => `
  insert into mails (id, org_id, state, priority, caller_waits, attempts, next_attempt_at, expires_at, subject, from_address,
                     to_addresses, cc_addresses, template_type, created_at, updated_at, sealed_request, stored_bytes)
  select uuidv7(), ('${prefix}' || lpad((1 + number % ${organisations})::text, 12, '0'))::uuid, 'queued',
    ${priority}, false, 3, ${dueAt} + number * interval '1 us',
    now() + interval '1 day', 'Your code', 'noreply@corp.example', array['to' || number || '@example.com'], '{}',
    'loginWithOTP', now(), now(), repeat('x', 400), 400
  from generate_series(1, $1) number`;
/** Inserts the rows that a trigger writes for each mail; it has done so for the mails that the service accepted. */
export const insertRecipients = `
  insert into mail_recipients (org_id, address, mail_id) select org_id, to_addresses[1], id from mails order by 1, 2
  on conflict do nothing`;

const toCall = (bearer = '') => ({
  bearer,
  body: letter,
  headers: { prefer: 'respond-async' },
  expected: 202,
});

/** Waits until all mails that were inserted are due. */
async function waitUntilDue(databaseUrl: string): Promise<void> {
  const findWaiting = () =>
    execute(databaseUrl, [`select from mails where attempts = 3 and next_attempt_at > now() limit 1`]);
  while ((await findWaiting())?.rowCount !== 0) await delay(1_000);
}

async function startQueue(
  fixture: Fixture,
  { url, tokens: [bearer, ...others] }: FakeIdentity,
  mails: number,
  seeded: Others,
) {
  const mail = await startMail(fixture, `bench_mail_${seeded.name}_${mails}`, url, {
    SMTP_TIMEOUT_MS: String(SILENT_TIMEOUT_MS),
    QUEUED_PER_ORG_MAX: String(MANY),
  });
  fixture.progress(`queueing ${mails} mails`);
  const tables = ['mails', 'mail_recipients'];
  await fillTables(mail.databaseUrl, tables, [toInsertMails(seeded), [mails]], [insertRecipients]);
  if (mails > 0 && others.length > 0)
    await load(mail.sendUrl, others.map(toCall), { requests: others.length * TRIED_MAILS }, 20);
  if (seeded === due) await waitUntilDue(mail.databaseUrl);
  const orgId = '0190a0b0-0000-7000-8000-000000000000';
  /** @returns how many mails a second were accepted, claimed and sent. */
  return async (seconds: number): Promise<number> => {
    const requests = Math.round(seconds * MAILS_PER_SECOND);
    const startedAt = performance.now();
    await load(mail.sendUrl, [toCall(bearer)], { requests }, 20);
    await waitUntilSent(mail.databaseUrl, orgId);
    return (requests * 1_000) / (performance.now() - startedAt);
  };
}

export const queueGrowth = defineMeasurement({
  title: 'queued mails of one organisation beside a million of others',
  limitSeconds: 300,
  values: {
    queue_growth: {
      bar: { min: 0.9 },
      note: 'mails of one organisation, accepted, queued and sent, beside 1,000,000 queued ones of others / beside 1,000',
    },
    queued: { unit: '/s', note: 'mails of one organisation beside 1,000,000 queued ones of others' },
  },
  async run(fixture) {
    const { port } = await fixture.share(startSink);
    const identity = fixture.keep(await startFakeIdentity(1, port));
    const few = await startQueue(fixture, identity, FEW, waiting);
    const many = await startQueue(fixture, identity, MANY, waiting);
    const { rate, ratio } = await alternate(fixture, { rounds: 3, warmUpSeconds: 4 }, { few, many });
    return { queue_growth: ratio('many', 'few'), queued: rate('many') };
  },
});

/** Starts an SMTP server that never answers. */
async function startSilentServer(): Promise<{ readonly port: number; stop(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

export const dueGrowth = defineMeasurement({
  title: `mails of one organisation beside a million due ones of ${SILENT_ORGANISATIONS} others`,
  limitSeconds: 300,
  values: {
    due_growth: {
      bar: { min: 0.9 },
      note: 'mails of one organisation, accepted, queued and sent, beside 1,000,000 due ones of others whose servers do not answer / alone',
    },
    beside_due: { unit: '/s', note: 'mails of one organisation beside 1,000,000 due ones of others' },
  },
  async run(fixture) {
    const { port } = await fixture.share(startSink);
    const silent = fixture.keep(await startSilentServer());
    const organisations = SILENT_ORGANISATIONS + 1;
    const identity = fixture.keep(await startFakeIdentity(organisations, port, silent.port));
    const alone = await startQueue(fixture, identity, 0, due);
    const beside = await startQueue(fixture, identity, MANY, due);
    const { rate, ratio } = await alternate(fixture, { rounds: 3, warmUpSeconds: 4 }, { alone, beside });
    return { due_growth: ratio('beside', 'alone'), beside_due: rate('beside') };
  },
});
