import { allOrNothing, type ChangeSchedule } from './locked.js';

const lost = Object.assign(new Error('connection lost'), { code: 'ECONNRESET' });
const fail = () => Promise.reject(lost);
const succeed = () => Promise.resolve('done');
const getCode = (change: ChangeSchedule, work: () => Promise<string>) =>
  allOrNothing(change)('org', 'wiki_1', work).catch((error: { code: string }) => error.code);

test.each<[what: string, change: ChangeSchedule, work: () => Promise<string>, code: string]>([
  ['before the work', fail, succeed, 'NOTHING_DONE'],
  ['in the work', (_orgId, _connector, work) => work(undefined as never), fail, 'NOTHING_DONE'],
  ['in the commit', (_orgId, _connector, work) => work(undefined as never).then(fail), succeed, 'ECONNRESET'],
])('a database that is lost %s is told as such', async (_what, change, work, code) => {
  expect(await getCode(change, work)).toBe(code);
});
