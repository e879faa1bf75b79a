import type { Found, FoundRun, Responses } from './responses.js';

const MINUTE_MS = 60_000;
/** A schedule that was just created may begin with the minute after the next. */
const FIRST_TICK_MS = 2_000;

/** The states of a run or a mail of which nothing more is to come. */
const FINAL_RUNS = ['completed', 'failed', 'aborted', 'skipped'];
const GIVEN_UP_MAILS = ['failed', 'unknown', 'expired'];

export interface Verdict {
  /** How many acts a response confirmed or promised. */
  readonly accepted: number;
  /** Accepted acts that were not done by the end. */
  readonly lost: readonly string[];
  /** Acts that were done more than once, or were done although the response said that they were not. */
  readonly doubled: readonly string[];
  /** Accepted acts that ended in a failure that the record shows. */
  readonly givenUp: readonly string[];
}

export type Reckoning = Readonly<Record<'tokens' | 'mails' | 'runs' | 'ticks' | 'events', Verdict>>;

/** Compares the responses that callers received with what is stored, was sent and was published. */
export function reckon(responses: Responses, found: Found): Reckoning {
  return {
    tokens: reckonTokens(responses, found),
    mails: reckonMails(responses, found),
    runs: reckonRuns(responses, found),
    ticks: reckonTicks(responses, found),
    events: reckonEvents(found),
  };
}

/**
 * Returns whether nothing is left that will still be done: the ledger waits for this before it reckons. Schedules go on, so a
 * run may have completed after the runs were read and before their events were: then both are read again.
 */
export function isSettled(responses: Responses, found: Found): boolean {
  const { events, ...others } = reckon(responses, found);
  return (
    found.runs.every(({ outcome }) => FINAL_RUNS.includes(outcome)) &&
    [events, ...Object.values(others)].every(({ lost }) => lost.length === 0) &&
    events.doubled.length === 0
  );
}

function collect() {
  const lost: string[] = [];
  const doubled: string[] = [];
  const givenUp: string[] = [];
  return { lost, doubled, givenUp };
}

function reckonTokens({ tokens }: Responses, found: Found): Verdict {
  const verdict = collect();
  const byId = new Map(found.tokens.map((token) => [token.id, token]));
  const created = tokens.filter((token) => token.created === 201);
  for (const { id = '', name, revoked } of created) {
    const stored = byId.get(id);
    if (stored === undefined) verdict.lost.push(`${name} is not stored`);
    else {
      if (stored.creations < 1) verdict.lost.push(`the audit lacks the creation of ${name}`);
      if (stored.creations > 1) verdict.doubled.push(`the audit has ${name} created twice`);
      if (revoked === 200 && !stored.isRevoked) verdict.lost.push(`the revocation of ${name}`);
      if (revoked === 200 && stored.revocations < 1)
        verdict.lost.push(`the audit lacks the revocation of ${name}`);
      if (stored.revocations > 1) verdict.doubled.push(`the audit has ${name} revoked twice`);
    }
  }
  const names = countBy(found.tokens, ({ name }) => name);
  for (const { name } of tokens)
    if ((names.get(name) ?? 0) > 1) verdict.doubled.push(`${name} is stored twice`);
  return { accepted: created.length, ...verdict };
}

function reckonMails({ mails }: Responses, found: Found): Verdict {
  const verdict = collect();
  const copies = countBy(found.subjects, (subject) => subject);
  const states = new Map(found.mails.map(({ subject, state }) => [subject, state]));
  const isAccepted = (status: number) => status === 200 || status === 202;
  for (const { subject, status, code } of mails) {
    const count = copies.get(subject) ?? 0;
    const state = states.get(subject) ?? 'not stored';
    if (count > 1)
      verdict.doubled.push(`${subject} was sent ${count} times (${status} ${code ?? ''}, ${state})`);
    else if (count === 1 && status >= 400 && status <= 500 && code !== 'DELIVERY_UNKNOWN')
      verdict.doubled.push(`${subject} was sent, and refused with ${status} ${code}`);
    else if (count === 0 && status === 202 && GIVEN_UP_MAILS.includes(state))
      verdict.givenUp.push(`${subject} is ${state}`);
    else if (count === 0 && isAccepted(status))
      verdict.lost.push(`${subject} was accepted with ${status} and is ${state}`);
  }
  return { accepted: mails.filter(({ status }) => isAccepted(status)).length, ...verdict };
}

function reckonRuns({ runs }: Responses, found: Found): Verdict {
  const verdict = collect();
  const byId = new Map(found.runs.map((run) => [run.runId, run]));
  const accepted = runs.filter(({ status }) => status === 202);
  for (const { connector, runId = '' } of accepted) {
    const what = `run ${runId} of ${connector}`;
    const run = byId.get(runId);
    if (run === undefined) verdict.lost.push(`${what} is not stored`);
    else if (!FINAL_RUNS.includes(run.outcome)) verdict.lost.push(`${what} is still ${run.outcome}`);
    else if (run.outcome !== 'completed') verdict.givenUp.push(`${what} ${run.outcome}`);
  }
  return { accepted: accepted.length, ...verdict };
}

/** Each minute has one run, which may have been late, or have been skipped by the policy of the schedule. */
function reckonTicks({ everyMinute: { connectors, since } }: Responses, { runs, until }: Found): Verdict {
  const verdict = collect();
  let expected = 0;
  for (const connector of connectors) {
    const own = runs.filter((run) => run.connector === connector && run.trigger !== 'manual');
    const ticks = countBy(own, ({ scheduledFor }) => Date.parse(scheduledFor));
    const first = Math.ceil((since + FIRST_TICK_MS) / MINUTE_MS) * MINUTE_MS;
    for (let tick = first; tick <= until; tick += MINUTE_MS) {
      const count = ticks.get(tick) ?? 0;
      const what = `${connector} at ${new Date(tick).toISOString()}`;
      expected += 1;
      if (count === 0) verdict.lost.push(`${what} has no run`);
      if (count > 1) verdict.doubled.push(`${what} has ${count} runs`);
    }
    for (const run of own)
      if (FINAL_RUNS.includes(run.outcome) && run.outcome !== 'completed')
        verdict.givenUp.push(`${connector} at ${run.scheduledFor} ${run.outcome}`);
  }
  return { accepted: expected, ...verdict };
}

/** Each completed run has one event, in the feed and in Kafka. Kafka may have copies, which consumers drop by their id. */
function reckonEvents({ runs, feed, topic }: Found): Verdict {
  const verdict = collect();
  const completed = runs.filter(({ outcome }) => outcome === 'completed');
  const inFeed = countBy(feed, ({ eventId }) => eventId);
  const inTopic = new Set(topic.map(({ eventId }) => eventId));
  const what = ({ runId, connector }: FoundRun) => `the event of run ${runId} of ${connector}`;
  for (const run of completed) {
    const id = run.eventId ?? '';
    if (!inFeed.has(id)) verdict.lost.push(`${what(run)} is not in the feed`);
    if (!inTopic.has(id)) verdict.lost.push(`${what(run)} is not in Kafka`);
    if ((inFeed.get(id) ?? 0) > 1) verdict.doubled.push(`${what(run)} is in the feed twice`);
  }
  const known = new Set(completed.map(({ eventId }) => eventId));
  for (const id of new Set([...inFeed.keys(), ...inTopic]))
    if (!known.has(id)) verdict.doubled.push(`event ${id} belongs to no completed run`);
  return { accepted: completed.length, ...verdict };
}

function countBy<Item, Key>(items: readonly Item[], toKey: (item: Item) => Key): Map<Key, number> {
  const counts = new Map<Key, number>();
  for (const item of items) counts.set(toKey(item), (counts.get(toKey(item)) ?? 0) + 1);
  return counts;
}
