import { performance } from 'node:perf_hooks';
import { alternate } from '../../load/alternate.js';
import { load } from '../../load/load.js';
import type { Fixture } from '../../runner/fixture.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { fillTables } from '../../servers/service.js';
import { startMail, startSink, waitUntilSent } from './environment.js';
import { type FakeIdentity, startFakeIdentity } from './fake-identity.js';
import { letter } from './submission.js';

const FEW = 1_000;
const MANY = 1_000_000;
const ORGANISATIONS = 1_000;
/** The size of a turn, for each of its seconds. */
const MAILS_PER_SECOND = 60;

/** Queues mails of organisations whose servers do not respond: they are tried again in an hour. */
const insertMails = `
  insert into mails (id, org_id, state, lane, caller_waits, attempts, next_attempt_at, expires_at, subject, from_address,
                     to_addresses, cc_addresses, template_type, created_at, updated_at, sealed_request, stored_bytes)
  select uuidv7(), ('0190a0b0-0001-7000-8000-' || lpad((number % ${ORGANISATIONS})::text, 12, '0'))::uuid, 'queued',
    number / ${ORGANISATIONS} % 3, false, 3, now() + interval '1 hour' + number * interval '1 ms',
    now() + interval '1 day', 'Your code', 'noreply@corp.example', array['to' || number || '@example.com'], '{}',
    'loginWithOTP', now(), now(), repeat('x', 400), 400
  from generate_series(1, $1) number`;
/** What a trigger writes for each mail. */
export const insertRecipients = `
  insert into mail_recipients (org_id, address, mail_id) select org_id, to_addresses[1], id from mails order by 1, 2`;

async function startQueue(fixture: Fixture, { url, tokens: [bearer = ''] }: FakeIdentity, mails: number) {
  const mail = await startMail(fixture, `bench_mail_queue_${mails}`, url);
  fixture.progress(`queueing ${mails} mails`);
  const tables = ['mails', 'mail_recipients'];
  await fillTables(mail.databaseUrl, tables, [insertMails, [mails]], [insertRecipients]);
  const orgId = '0190a0b0-0000-7000-8000-000000000000';
  const call = { bearer, body: letter, headers: { prefer: 'respond-async' }, expected: 202 };
  /** @returns how many mails a second were accepted, claimed and sent. */
  return async (seconds: number): Promise<number> => {
    const requests = Math.round(seconds * MAILS_PER_SECOND);
    const startedAt = performance.now();
    await load(mail.sendUrl, [call], { requests }, 20);
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
    const few = await startQueue(fixture, identity, FEW);
    const many = await startQueue(fixture, identity, MANY);
    const { rate, ratio } = await alternate(fixture, { rounds: 3, warmUpSeconds: 4 }, { few, many });
    return { queue_growth: ratio('many', 'few'), queued: rate('many') };
  },
});
