import type { AccessEntry, Document } from '@platform/crawl-worker/documents';
import { callUrl, createRandom, testPlatform } from '@platform/testing';
import { toReader } from '../src/access.js';
import { startKnowledge } from './knowledge.js';

/*
 * CRAWL-62: an answer respects the person. Random people, groups and access lists, with changes in between; a plain model says
 * what each person may find. Every tenth search goes through the real platform: a token, `/mcp`, the groups in identity's
 * database, a signed assertion, and the query of the search. As many bring an assertion that the test has signed, with the groups of
 * the model. The others ask the query itself, which decides: all of the way there does the same for each of them.
 */

const SEARCHES = 10_000;
const ROUNDS = 100;
/** One search of so many goes through the platform, and another one brings an assertion. */
const WHOLE_WAYS = 10;
const CONCURRENCY = 16;
const PEOPLE = 12;
const GROUPS = 10;
const TOPICS = 20;
const DOCUMENTS = 200;
/** More than there are of a topic, so that one too many would be seen. */
const MAX_HITS = 20;
const SCOPES = ['kb:read', 'semantic:write'];
const NOTHING = 'Nothing was found.';
const NO_PAGE = 'There is no such page. Use a path that search has returned.';

/** Chooses by a seed, so that a failure can be repeated. */
function createChoices(seed: number) {
  const next = createRandom(seed);
  const below = (count: number): number => Math.floor(next() * count);
  return { next, below, pick: <T>(from: readonly T[]): T => from[below(from.length)] as T };
}

interface Person {
  readonly id: string;
  readonly email: string;
  readonly token: string;
}
interface Group {
  readonly id: string;
  name: string;
  readonly members: Set<Person>;
}

const seed = Number(process.env['PEOPLE_SEED'] ?? Date.now() % 1_000_000);
/** What changes is the same for a seed, in whichever order the searches between two changes end. */
const random = createChoices(seed);
const asked = createChoices(seed + 1);

const platform = await testPlatform();
const { orgId: org, admin } = await platform.organisation();
const login = await callUrl(`${platform.url}/api/v1/auth/login`, 'POST', { body: admin });
const session = login.body.accessToken as string;

async function call(method: string, path: string, body?: object, token = session) {
  const answer = await callUrl(platform.url + path, method, { token, ...(body && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
  return answer.body;
}

const knowledge = await startKnowledge({
  hasCrawls: false,
  org,
  platformUrl: platform.url,
});
afterAll(() => knowledge.close());

async function mount(): Promise<void> {
  const credential = { kind: 'assertion', claims: ['email', 'groups'] };
  const rules = [{ pattern: '*', scope: 'kb:read' }];
  const { server } = await call('POST', '/api/v1/mcp-servers', {
    name: 'kb',
    url: knowledge.url,
    credential,
    rules,
  });
  await call('POST', `/api/v1/mcp-servers/${server.id}/refresh`);
  const { data } = await call('GET', `/api/v1/mcp-servers/${server.id}/tools?limit=100`);
  const tools = (data as { name: string; hash: string }[]).map(({ name, hash }) => ({ name, approve: hash }));
  await call('PATCH', `/api/v1/mcp-servers/${server.id}/tools`, { tools });
}

let created = 0;
async function createPerson(): Promise<Person> {
  const email = `person-${seed}-${++created}@example.com`;
  const password = 'correct-Horse-battery-9';
  const { user } = await call('POST', '/api/v1/users', {
    email,
    password,
    fullName: 'A Person',
    role: 'member',
  });
  const { accessToken } = await call('POST', '/api/v1/auth/login', { email, password }, '');
  const { token } = await call(
    'POST',
    '/api/v1/personal-access-tokens',
    { name: 'a', scopes: SCOPES },
    accessToken,
  );
  return { id: user.id, email, token: token.accessToken };
}
async function createGroup(): Promise<Group> {
  const name = `Group ${++created}`;
  const { group } = await call('POST', '/api/v1/groups', { name });
  return { id: group.id, name, members: new Set() };
}

const toMessage = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

/** Calls a tool as an agent does. @returns its text. */
async function callThroughPlatform({ token }: Person, name: string, args: object): Promise<string> {
  const { result } = await call('POST', '/mcp', toMessage(`kb__${name}`, args), token);
  return result.content[0].text as string;
}

/** What an assertion would say of the person, by the model. */
const toClaims = (person: Person) => ({
  email: person.email,
  groups: groups.filter(({ members }) => members.has(person)).map((group) => group.name),
});

/** Calls a tool as the platform does, with what the model says about the person. */
async function callDirectly(person: Person, name: string, args: object): Promise<string> {
  const assertion = await knowledge.sign({ org, sub: person.id, ...toClaims(person) });
  const response = await fetch(knowledge.url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${assertion}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(toMessage(name, args)),
  });
  const [, event] = /^data: (.*)$/m.exec(await response.text()) ?? [];
  return JSON.parse(event ?? '{}').result.content[0].text as string;
}

const people: Person[] = [];
let groups: Group[] = [];
/** The access lists by document; each document has a topic, which is the word that finds it. */
const lists = new Map<string, readonly AccessEntry[]>();
const toId = (index: number) => `d${index}.md`;
const toTopic = (index: number) => `topic${index % TOPICS}`;

function createAccess(): readonly AccessEntry[] {
  const kinds = [
    () => [{ kind: 'everyone' as const }],
    () => [],
    () => [{ kind: 'group' as const, id: random.pick(groups).name }],
    () => [1, 2].map(() => ({ kind: 'group' as const, id: random.pick(groups).name })),
    // Addresses are the same in any case, and the name of a group is no address.
    () => [{ kind: 'user' as const, id: random.pick(people).email.toUpperCase() }],
    () => [
      { kind: 'user' as const, id: random.pick(people).email },
      { kind: 'group' as const, id: random.pick(groups).name },
    ],
    () => [{ kind: 'user' as const, id: random.pick(groups).name }],
    () => [{ kind: 'group' as const, id: random.pick(people).email }],
  ];
  return random.pick(kinds)();
}

/** The model: a group counts by its name at the moment. */
function mayFind(person: Person, access: readonly AccessEntry[]): boolean {
  return access.some((entry) => {
    if (entry.kind === 'everyone') return true;
    if (entry.kind === 'user') return entry.id.toLowerCase() === person.email;
    return groups.some(({ name, members }) => name === entry.id && members.has(person));
  });
}

async function bring(indexes: readonly number[]): Promise<void> {
  const documents = indexes.map((index): Document => {
    const access = createAccess();
    lists.set(toId(index), access);
    return {
      connector: 'files_1',
      instance: 'default',
      id: toId(index),
      title: `Document ${index}`,
      text: `About ${toTopic(index)}.`,
      access: [...access],
    };
  });
  await knowledge.documents.store(documents);
  await knowledge.index({ connector: 'files_1', instance: 'default' });
}

async function changeMembership(group: Group, person: Person): Promise<void> {
  const isMember = group.members.delete(person) || !group.members.add(person);
  await call(isMember ? 'DELETE' : 'PUT', `/api/v1/groups/${group.id}/members/${person.id}`);
}

/** Something changes: who is in a group, what a group is called, whether it exists, or who may find a document. */
async function change(): Promise<void> {
  const group = random.pick(groups);
  const acts = [
    ...Array.from({ length: 6 }, () => () => changeMembership(group, random.pick(people))),
    async () => {
      group.name = `Group ${++created}`;
      await call('PATCH', `/api/v1/groups/${group.id}`, { name: group.name });
    },
    async () => {
      // The name of a group that is gone goes to another one, whose members are others.
      await call('DELETE', `/api/v1/groups/${group.id}`);
      groups = groups.filter((one) => one !== group);
      const { group: again } = await call('POST', '/api/v1/groups', { name: group.name });
      groups.push({ id: again.id, name: group.name, members: new Set() });
    },
    () => bring(Array.from({ length: 5 }, () => random.below(DOCUMENTS))),
  ];
  await random.pick(acts)();
}

interface Way {
  search(person: Person, topic: string): Promise<{ readonly found: string[]; readonly isNothing: boolean }>;
  read(person: Person, path: string): Promise<{ readonly isShown: boolean; readonly isNoPage: boolean }>;
}

const createToolWay = (callTool: typeof callDirectly): Way => ({
  async search(person, topic) {
    const text = await callTool(person, 'search', { query: topic, limit: MAX_HITS });
    const found = [...text.matchAll(/^- .*\((d\d+\.md)\)$/gm)].map(([, id = '']) => id);
    return { found, isNothing: text === NOTHING };
  },
  async read(person, path) {
    const page = await callTool(person, 'read_page', { path });
    return { isShown: page.startsWith('About topic'), isNoPage: page === NO_PAGE };
  },
});
const throughPlatform = createToolWay(callThroughPlatform);
const withAssertion = createToolWay(callDirectly);
const withQuery: Way = {
  async search(person, topic) {
    const hits = await knowledge.store.search(toReader(toClaims(person)), topic, MAX_HITS);
    return { found: hits.map(({ path }) => path), isNothing: hits.length === 0 };
  },
  async read(person, path) {
    const page = await knowledge.store.read(toReader(toClaims(person)), path, 0, 100);
    return { isShown: page?.text.startsWith('About topic') ?? false, isNoPage: page === undefined };
  },
};

function pickWay(): Way {
  const way = asked.below(WHOLE_WAYS);
  if (way === 0) return throughPlatform;
  return way === 1 ? withAssertion : withQuery;
}

/** Compares what a person finds with the model. @returns how many documents were found, and how many withheld. */
async function search(person: Person): Promise<readonly [found: number, withheld: number]> {
  const { email } = person;
  const topic = toTopic(asked.below(TOPICS));
  const about = [...lists.keys()].filter((id) => toTopic(Number(/\d+/.exec(id)?.[0])) === topic);
  const expected = about.filter((id) => mayFind(person, lists.get(id) ?? [])).toSorted();
  const { found, isNothing } = await pickWay().search(person, topic);
  expect({ seed, topic, email, found: found.toSorted(), isNothing }).toEqual({
    seed,
    topic,
    email,
    found: expected,
    isNothing: expected.length === 0,
  });
  return [expected.length, about.length - expected.length];
}

/** Compares whether a person can read a page with the model. */
async function readPage(person: Person): Promise<void> {
  const { email } = person;
  const path = toId(asked.below(DOCUMENTS));
  const read = await pickWay().read(person, path);
  const isShown = mayFind(person, lists.get(path) ?? []);
  expect({ seed, path, email, ...read }).toEqual({
    seed,
    path,
    email,
    isShown,
    isNoPage: !isShown,
  });
}

beforeAll(async () => {
  await knowledge.start();
  await mount();
  for (let index = 0; index < PEOPLE; index += 1) people.push(await createPerson());
  for (let index = 0; index < GROUPS; index += 1) groups.push(await createGroup());
});

test('one question of two people: only the one in the group finds its document, and not after leaving it', async () => {
  const [inside, outside] = people as [Person, Person];
  const [group] = groups as [Group];
  await changeMembership(group, inside);
  const origin = { connector: 'files_1', instance: 'default' };
  const text = 'The wombat is secret.';
  const access = [{ kind: 'group' as const, id: group.name }];
  await knowledge.documents.store([{ ...origin, id: 'plans.md', title: 'Plans', text, access }]);
  await knowledge.index(origin);
  const ask = (person: Person) => callThroughPlatform(person, 'search', { query: 'wombat' });
  expect(await ask(inside)).toContain('(plans.md)');
  expect(await ask(outside)).toBe(NOTHING);
  await changeMembership(group, inside);
  expect(await ask(inside)).toBe(NOTHING);
  expect(await callThroughPlatform(inside, 'read_page', { path: 'plans.md' })).toBe(NO_PAGE);
});

test(`${SEARCHES} searches find no document too many and none too few, whatever changes in between`, async () => {
  for (const group of groups)
    for (const person of people) if (random.below(4) === 0) await changeMembership(group, person);
  await bring(Array.from({ length: DOCUMENTS }, (_, index) => index));
  let [found, withheld] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    await change();
    await change();
    let left = SEARCHES / ROUNDS;
    const searchOn = async (): Promise<void> => {
      for (; left > 0;) {
        left -= 1;
        const person = asked.pick(people);
        const [more, less] = await search(person);
        if (asked.below(10) === 0) await readPage(person);
        found += more;
        withheld += less;
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, searchOn));
  }
  // Otherwise the model would have been right by accident.
  expect(Math.min(found, withheld)).toBeGreaterThan(SEARCHES / 2);
});
