import { createLogger, createSecretBox, DAY_MS } from '@platform/service-kit';
import { createRandom } from '@platform/testing';
import { createOutbox } from '../../src/mails/outbox/outbox.js';
import { createNoticesJob } from '../../src/tokens/watch/notices/notices.job.js';
import { startIdentity } from '../identity.js';
import { createOrganisation } from './organisation.js';

/* The notices about tokens that expire, through a year in which identity is down now and then. */

const SEED = 1;
const TOKENS = 80;
const YEAR = 365;
const LEAD_DAYS = [14, 7, 1];
/** A notice that an expiry is past is not sent later. */
const LATEST_DAYS = 3;

const identity = await startIdentity({ environment: { MAIL_URL: 'http://127.0.0.1:9' } });
afterAll(() => identity.close());

interface Expiring {
  readonly name: string;
  /** In days from the beginning of the year. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly isMuted: boolean;
}

/** Lists at which of the times somebody is mailed about a token: for each day that a notice is due on, at the first time from then on. */
function listNotices({ createdAt, expiresAt, isMuted }: Expiring, times: readonly number[]): number[] {
  if (isMuted) return [];
  const expiryDay = Math.floor(expiresAt);
  const leads = LEAD_DAYS.filter((lead) => Math.floor(createdAt) < expiryDay - lead);
  const before = leads.flatMap((lead) => times.find((time) => Math.floor(time) >= expiryDay - lead) ?? []);
  const after = times.find((time) => time >= expiresAt) ?? Infinity;
  // Later notices make up for the ones that were missed.
  const notices = new Set(before.filter((time) => time < expiresAt));
  if (after <= expiresAt + LATEST_DAYS) notices.add(after);
  return [...notices];
}

test('PAT-32 through a year, each notice is sent once, on its day or as soon as identity is up again', async () => {
  const random = createRandom(SEED);
  const start = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  const { orgId, insertToken } = await createOrganisation(identity);
  const tokens = Array.from({ length: TOKENS }, (_, index): Expiring => {
    const expiresAt = random() * YEAR;
    // Some are created on the day of a notice, or after it.
    const createdAt = expiresAt - (random() < 0.5 ? random() * 20 : 100);
    return { name: `token ${index}`, createdAt, expiresAt, isMuted: random() < 0.1 };
  });
  for (const { name, createdAt, expiresAt, isMuted } of tokens)
    await insertToken(name, {
      now: start,
      createdAgo: -createdAt,
      expiresIn: expiresAt,
      ...(isMuted && { fields: 'mutes_notices = true' }),
    });

  let now = start;
  const job = createNoticesJob({
    pool: identity.db,
    clock: () => now,
    log: createLogger('identity', 'silent', { write: () => undefined }),
    outbox: createOutbox(() => undefined, createSecretBox([{ id: 'k1', key: Buffer.alloc(32, 1) }])),
  });
  const times: number[] = [];
  for (let day = 0; day < YEAR + 5; day += random() < 0.05 ? 1 + Math.floor(random() * 6) : 1) {
    const time = day + random();
    times.push(time);
    now = start + time * DAY_MS;
    await job.run();
  }

  const { rows } = await identity.db.query<{ name: string; at: Date }>(
    `select detail->>'name' as name, created_at as at from audit_entries where org_id = $1 and action = 'token.expiring'`,
    [orgId],
  );
  const toLine = (name: string, at: number) => `${name} ${new Date(at).toISOString()}`;
  expect(rows.map(({ name, at }) => toLine(name, at.getTime())).toSorted()).toEqual(
    tokens
      .flatMap((token) => listNotices(token, times).map((time) => toLine(token.name, start + time * DAY_MS)))
      .toSorted(),
  );
  const mailed = await identity.db.query(
    `select from outgoing_mails where kind = 'token_expiring' and user_id in (select id from users where org_id = $1)`,
    [orgId],
  );
  expect(mailed.rowCount).toBe(new Set(rows.map(({ at }) => at.getTime())).size);
});
