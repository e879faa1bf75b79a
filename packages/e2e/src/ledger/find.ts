import { readTopic } from '@platform/testing';
import type { CallAnswer, Caller } from './calls.js';
import { RECKONING } from './check.js';
import { type Rig, TOPIC } from './rig.js';
import type { Found, FoundEvent, FoundRun, FoundToken } from './responses.js';
import type { Workload } from './workload.js';

const API = '/api/v1';

interface SyncEvent {
  readonly eventId: string;
  readonly payload: { readonly connector: string };
}
const toFound = ({ eventId, payload }: SyncEvent): FoundEvent => ({ eventId, key: payload.connector });

/** Starts to read the topic from its beginning. */
export const openTopic = (rig: Rig) => readTopic({ brokers: rig.brokers }, TOPIC);

/** Creates what reads back what is stored, was sent and was published. */
export function createFinder(rig: Rig, { call }: Caller, { session, mailToken, connectors }: Workload) {
  const crawl = `${API}/crawlingManager`;
  /** Every run that was ever seen, as it was seen last: the platform keeps the last 200 of each outcome. */
  const runs = new Map<string, FoundRun>();

  const get = async (path: string, token: string): Promise<CallAnswer> => {
    const answer = await call(RECKONING, path, { token });
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

  /** Reads the runs that are stored, before the platform forgets the first of them. */
  async function collectRuns(): Promise<void> {
    for (const connector of connectors)
      for (const run of await readAll<FoundRun>(`${crawl}/${connector}/runs?limit=100`, session, 'cursor'))
        runs.set(run.runId, run);
  }

  return {
    collectRuns,
    /**
     * Mails, runs and the feed are read by the API, tokens and their audit in identity's database, sent mails at the SMTP
     * server, events in Kafka.
     */
    async findAll(topic: Awaited<ReturnType<typeof openTopic>>, until: number): Promise<Found> {
      await collectRuns();
      const feed = await readAll<SyncEvent>(`${crawl}/events?limit=100`, session, 'after');
      const mails = await readAll<Found['mails'][number]>(
        `${API}/mail/records?state=any&limit=100`,
        mailToken,
        'cursor',
      );
      const tokens = await rig.queryIdentity(`
        select id, name, status = 'revoked' as "isRevoked",
          (select count(*)::int from audit_entries where subject_id = tokens.id and action = 'token.created') as creations,
          (select count(*)::int from audit_entries where subject_id = tokens.id and action = 'token.revoked') as revocations
        from personal_access_tokens as tokens`);
      return {
        tokens: tokens as unknown as FoundToken[],
        subjects: [...rig.smtp.subjects],
        mails,
        runs: [...runs.values()],
        feed: feed.map(toFound),
        topic: topic.messages.map(({ event }) => toFound(event)),
        until,
      };
    },
  };
}
