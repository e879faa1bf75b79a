import { readTopic } from '@platform/testing';
import type { CallAnswer, Caller } from './calls.js';
import { type Rig, TOPIC } from './rig.js';
import type { Found, FoundRun, FoundToken } from './responses.js';
import { REPLACED, type Workload } from './workload.js';

const API = '/api/v1';

/** Starts to read the topic from its beginning. */
export const openTopic = (rig: Rig) => readTopic({ brokers: [rig.brokers] }, TOPIC);

/**
 * Reads what is stored, was sent and was published: mails, runs, the schedule and the feed by the API, tokens and their
 * audit in identity's database, sent mails at the SMTP server, events in Kafka.
 */
export async function findAll(
  rig: Rig,
  { call }: Pick<Caller, 'call'>,
  { session, mailToken, connectors }: Workload,
  topic: Awaited<ReturnType<typeof openTopic>>,
  until: number,
): Promise<Found> {
  const get = async (path: string, token: string): Promise<CallAnswer> => {
    const answer = await call('reckoning', path, { token });
    if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status} ${answer.code}`);
    return answer;
  };
  /** Reads all pages of a list that continues at `nextCursor`. */
  const readAll = async <Item>(path: string, token: string, parameter: string): Promise<Item[]> => {
    const items: Item[] = [];
    let cursor: string | null = null;
    do {
      const next: string = cursor === null ? '' : `&${parameter}=${encodeURIComponent(cursor)}`;
      const { body } = await get(`${path}${next}`, token);
      items.push(...(body.data as Item[]));
      cursor = body.hasMore === false ? null : (body.nextCursor as string | null);
    } while (cursor !== null);
    return items;
  };
  const crawl = `${API}/crawlingManager`;
  const runs: FoundRun[] = [];
  for (const connector of connectors)
    runs.push(...(await readAll<FoundRun>(`${crawl}/${connector}/runs?limit=100`, session, 'cursor')));
  const feed = await readAll<{ eventId: string }>(`${crawl}/events?limit=100`, session, 'after');
  const mails = await readAll<Found['mails'][number]>(
    `${API}/mail/records?state=any&limit=100`,
    mailToken,
    'cursor',
  );
  const schedule = await call('reckoning', `${crawl}/${REPLACED}/schedule`, { token: session });
  const tokens = await rig.queryIdentity(`
    select id, name, status = 'revoked' as "isRevoked",
      (select count(*)::int from audit_entries where subject_id = tokens.id and action = 'token.created') as creations,
      (select count(*)::int from audit_entries where subject_id = tokens.id and action = 'token.revoked') as revocations
    from personal_access_tokens as tokens`);
  return {
    tokens: tokens as unknown as FoundToken[],
    subjects: [...rig.smtp.subjects],
    mails,
    runs,
    feed: feed.map(({ eventId }) => eventId),
    topic: topic.messages.map(({ event }) => event.eventId),
    write: schedule.body?.data?.data?.metadata?.n as number | undefined,
    until,
  };
}
