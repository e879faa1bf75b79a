import { type Act as ActIn, type Outcomes, startActing } from '@platform/testing';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { eraseMarked, eraseRecipient } from '../../src/features/queue/erasure.sql.js';
import { claimMails, FIRST_ORGANISATION } from '../../src/features/queue/claim.sql.js';
import {
  endAttempts,
  expireLeases,
  expireQueued,
  insertResend,
  markDataBegun,
  renewLeases,
} from '../../src/features/queue/queue.sql.js';
import { createMailDatabase } from '../mail.js';
import { insertMailRow } from '../mail-rows.js';

/*
 * Mails that are claimed, sent, expired, sent again and erased at the same time, each by connections of its own, which the
 * explorer steps. Before each interleaving, the database is what it was.
 */

const database = await createMailDatabase();
const db = new pg.Pool({ connectionString: database.url, max: 2 });

const orgId = uuidv7();
/** Each mail goes to an address of its own, and to Bert. */
const addressOf = (mail: string) => `${mail}@example.com`;
const toBoth = (mail: string) => [addressOf(mail), 'bert@example.com'];
const now = () => new Date(Date.now() + 1_000);
const insert = (mail: string, state: string, columns: object = {}) =>
  insertMailRow(db, {
    orgId,
    state,
    to: toBoth(mail),
    columns: { claim: 1, sealed_request: 'sealed', can_resend: true, ...columns },
  });
const mails = {
  /** Handed over by a replica whose lease has expired. */
  sending: await insert('sending', 'sending', { data_begun: true, lease_until: new Date(0) }),
  /** Not handed over yet, by a replica whose lease has expired. */
  claimed: await insert('claimed', 'sending', { lease_until: new Date(0) }),
  queued: await insert('queued', 'queued', { claim: 0 }),
  /** The replica whose lease had expired is alive. */
  unknown: await insert('unknown', 'unknown'),
  failed: await insert('failed', 'failed'),
};
const defer = (mail: string) => [{ address: addressOf(mail), state: 'deferred' as const }];
const nextAttemptAt = () => new Date(Date.now() - 1_000);

async function claim(pool: pg.Pool): Promise<string[]> {
  const claimed = await claimMails(pool, now(), 30_000, {
    limit: 100,
    limitOfOthers: 100,
    after: FIRST_ORGANISATION,
    defaultRoom: { others: 5, all: 6 },
    rooms: new Map(),
  });
  return claimed.map(({ id, claim: number }) => `${id} ${number}`);
}

const runs: Readonly<Record<string, ActIn<pg.Pool, undefined>['run']>> = {
  'a replica claims': claim,
  'another replica claims': claim,
  'the handover begins': (pool) => markDataBegun(pool, [{ id: mails.claimed, claim: 1 }], 30_000),
  'the leases are renewed': (pool) =>
    renewLeases(
      pool,
      [mails.sending, mails.claimed].map((id) => ({ id, claim: 1 })),
      30_000,
    ),
  'the mail was sent': (pool) => endAttempts(pool, [{ id: mails.sending, claim: 1, state: 'sent' }], now()),
  'a recipient was deferred': (pool) =>
    endAttempts(
      pool,
      [
        {
          id: mails.sending,
          claim: 1,
          state: 'queued',
          nextAttemptAt: nextAttemptAt(),
          recipients: defer('sending'),
        },
      ],
      now(),
    ),
  'a recipient was deferred, it says late': (pool) =>
    endAttempts(
      pool,
      [
        {
          id: mails.unknown,
          claim: 1,
          state: 'queued',
          nextAttemptAt: nextAttemptAt(),
          recipients: defer('unknown'),
        },
      ],
      now(),
    ),
  'the mail was sent, it says late': (pool) =>
    endAttempts(pool, [{ id: mails.unknown, claim: 1, state: 'sent' }], now()),
  'leases expire': (pool) => expireLeases(pool),
  'queued mails expire': (pool) => expireQueued(pool, new Date(Date.now() + 48 * 3_600_000)),
  ...Object.fromEntries(
    Object.keys(mails).map((mail): [string, (pool: pg.Pool) => Promise<unknown>] => [
      `the recipient of the ${mail} mail is erased`,
      (pool) => eraseRecipient(pool, orgId, addressOf(mail)),
    ]),
  ),
  'marked addresses are erased': (pool) => eraseMarked(pool),
  'the failed mail is sent again': (pool) => {
    const mail = {
      id: uuidv7(),
      orgId,
      priority: 2,
      callerWaits: false,
      atLeastOnce: false,
      canResend: true,
      subject: 'again',
      from: 'a@b.example',
      to: toBoth('failed'),
      cc: [],
      templateType: 'accountCreation',
      reference: null,
      senderId: null,
      sealedRequest: 'sealed',
      sealedContent: 'sealed',
      storedBytes: 0,
      createdAt: new Date(),
      expiresAt: new Date(Date.now() + 3_600_000),
    } as const;
    return insertResend(pool, mail, mails.failed, 30_000);
  },
};

/** What holds at any time, as queries that find nothing. */
const invariants: Readonly<Record<string, string>> = {
  'the recipients of a mail are not those of its list': `
    select from mails where array(
        select distinct lower(one) from unnest(to_addresses || cc_addresses) one where one <> 'erased@invalid' order by 1)
      <> array(select address from mail_recipients r where r.mail_id = mails.id order by 1)`,
  'the end of a mail is not one fact': `
    select from mails where state in ('sent', 'failed') and created_at > updated_at - interval '1 hour'
      and updated_at > (select max(created_at) from snapshot.public_mails)
      and (select count(*) from facts where type = 'mail.' || mails.state and data ->> 'mailId' = mails.id::text) <> 1`,
};

async function check(outcomes: Outcomes): Promise<void> {
  for (const mail of Object.keys(mails)) {
    if (!outcomes[`the recipient of the ${mail} mail is erased`]) continue;
    const { rowCount } = await db.query(
      'select from mails where $1 = any(to_addresses || cc_addresses) and $1 <> all(addresses_to_erase)',
      [addressOf(mail)],
    );
    if (rowCount !== 0) throw new Error('the erasure was answered, and a mail still goes to the address');
  }
  const claims = Object.values(outcomes).flatMap((outcome) =>
    Array.isArray(outcome?.value) ? outcome.value : [],
  );
  if (new Set(claims).size < claims.length) throw new Error('two replicas have claimed one mail');
}

const acting = await startActing({
  databaseUrl: database.url,
  db,
  world: undefined,
  connect: (pool) => pool,
  invariants,
  check,
  share: 0.2,
});
afterAll(async () => {
  await acting.close();
  await db.end();
  await database.drop();
});

const acts = Object.fromEntries(Object.entries(runs).map(([name, run]) => [name, { run }]));
const names = Object.keys(acts);
const pairs = names.flatMap((one, index) => names.slice(index + 1).map((other) => [one, other] as const));

test.each(pairs)('OPS-30: %s, and %s', async (...pair) => {
  const { tried } = await acting.explore(pair, acts);
  expect(tried).toBeGreaterThan(0);
});
