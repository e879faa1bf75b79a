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
const notify = (token: string, crawls: object[]) =>
  platform.identity.call('POST', '/api/v1/internal/crawlNotices', {
    token,
    body: { orgId: platform.identity.orgId, crawls },
  });

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
  expect(text).toContain('chat_1\n  The last 4 runs have failed: too long xxx');
  expect(text).toContain('files_1\n  The last 3 runs have failed: The endpoint answered <500>\n');
  expect(text).toContain('wiki_1\n  completes again\n');
  expect(text).toContain('/crawls\n');
  await platform.drained();
  expect(platform.mailsTo(member.email).filter(({ subject }) => subject?.includes('crawl'))).toEqual([]);
});

test('only a service of the platform can have administrators mailed', async () => {
  const crawls = [{ name: 'wiki_1', failures: 3, reason: 'no' }];
  expect((await notify(platform.session, crawls)).status).toBe(403);
  expect((await notify(await getServiceToken(), [])).status).toBe(400);
});
