import { serviceClient } from '../identity.js';
import { type Platform, startPlatform } from '../sign-in/account-flows/platform.js';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

async function getServiceToken(): Promise<string> {
  const basic = Buffer.from(`${serviceClient.id}:${serviceClient.secret}`).toString('base64');
  const { body } = await platform.identity.call('POST', '/api/v1/oauth2/token', {
    raw: 'grant_type=client_credentials',
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
  });
  return body.access_token as string;
}
const notify = (token: string, crawls: object[], orgId = platform.identity.orgId) =>
  platform.identity.call('POST', '/api/v1/internal/crawlNotices', { token, body: { orgId, crawls } });

test('a notice of crawl is one mail to each administrator, about all crawls', async () => {
  const member = await platform.createUser();
  const token = await getServiceToken();
  const answer = await notify(token, [
    { name: 'wiki_1', failures: 0, reason: null },
    { name: 'files_1', failures: 3, reason: 'The endpoint\nanswered <500>' },
    { name: 'chat_1', failures: 4, reason: `too long ${'x'.repeat(1_000)}` },
  ]);
  expect([answer.status, answer.body]).toEqual([202, { recipients: 1 }]);
  const { text = '' } = await platform.mailTo('admin@example.com', /^2 crawls keep failing$/);
  expect(text).toMatch(/chat_1\n  The last 4 runs have failed: too long\s+xxx/);
  expect(text).toContain('files_1\n  The last 3 runs have failed: The endpoint answered <500>\n');
  expect(text).toContain('wiki_1\n  completes again\n');
  expect(text).toContain('/crawls\n');
  await platform.drained();
  expect(platform.mailsTo(member.email).filter(({ subject }) => subject?.includes('crawl'))).toEqual([]);
});

test('only a service of the platform can have administrators mailed, those of no other organisation', async () => {
  const { identity, session } = platform;
  const countMails = async () =>
    (await identity.db.query(`select from outgoing_mails where kind = 'crawl_notice'`)).rowCount;
  const crawls = [{ name: 'wiki_1', failures: 3, reason: 'no' }];
  const { accessToken } = await identity.createToken(session, { scopes: ['user:write', 'config:write'] });
  const refused = [
    await notify('', crawls),
    await notify(session, crawls),
    await notify(accessToken, crawls),
    await notify(await getServiceToken(), []),
    await notify(await getServiceToken(), [{ name: '', failures: 3, reason: 'no' }]),
    await notify(await getServiceToken(), [{ name: 'wiki_1', failures: -1, reason: 'no' }]),
  ];
  expect(refused.map(({ status }) => status)).toEqual([401, 403, 403, 400, 400, 400]);
  expect(await countMails()).toBe(0);
  const other = await identity.createOrganisation('boss@crawls.example');
  const answer = await notify(await getServiceToken(), crawls, other.orgId);
  expect([answer.status, answer.body]).toEqual([202, { recipients: 1 }]);
  const { rows } = await identity.db.query(
    `select users.email from outgoing_mails join users on users.id = user_id where kind = 'crawl_notice'`,
  );
  // The other organisation has no SMTP server, so that its mail waits.
  expect(rows).toEqual([{ email: 'boss@crawls.example' }]);
});
