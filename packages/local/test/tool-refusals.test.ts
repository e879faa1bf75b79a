import { AGENT, CRAWL, startAgentPlatform } from './agent-platform.js';

/* Tests how invalid arguments of tools are reported. */

const platform = await startAgentPlatform();
afterAll(() => platform.close());

const schedule = (scheduleConfig: unknown, more: object = {}) => ({
  connector: 'db_1',
  scheduleConfig,
  ...more,
});
const letter = {
  emailTemplateType: 'loginWithOTP',
  sendEmailTo: ['a@example.com'],
  subject: 's',
  templateData: { otp: '1' },
};

// prettier-ignore
it.each<[tool: string, args: Record<string, unknown>, fault: RegExp]>([
  ['list_connectors', { verbose: true }, /verbose/],
  ['list_crawls', { cursor: 'x' }, /cursor/],
  ['crawl_stats', { connector: 'db_1' }, /connector/],
  ['get_crawl', {}, /connector is required/],
  ['get_crawl', { connector: 7 }, /connector/],
  ['get_crawl', { connector: '' }, /connector/],
  ['get_crawl', { connector: 'nothing_1' }, /Unknown connector/],
  ['get_crawl', { connector: 'x'.repeat(10_000) }, /connector/],
  ['pause_crawl', { connector: '..' }, /connector/],
  ['pause_crawl', { connector: '../stats?' }, /Unknown connector/],
  ['pause_crawl', { connector: 'db_1', reason: 'x' }, /reason/],
  ['resume_crawl', { connector: null }, /connector/],
  ['remove_crawl', { connector: ['db_1'] }, /connector/],
  ['remove_crawl', { connector: 'schedule/all' }, /Unknown connector/],
  ['schedule_crawl', {}, /connector is required/],
  ['schedule_crawl', { connector: 'db_1' }, /scheduleConfig/],
  ['schedule_crawl', schedule('daily'), /scheduleConfig/],
  ['schedule_crawl', schedule({ scheduleType: 'daily', hour: 24, minute: 0 }), /hour/],
  ['schedule_crawl', schedule({ scheduleType: 'yearly' }), /scheduleType/],
  ['schedule_crawl', schedule({ scheduleType: 'once', scheduledTime: '2020-01-01T00:00:00Z' }), /future/],
  ['schedule_crawl', schedule({ scheduleType: 'hourly', minute: 1 }, { timeout: '5' }), /timeout/],
  ['schedule_crawl', schedule({ scheduleType: 'hourly', minute: 1 }, { wait_for: 1 }), /wait_for/],
  ['schedule_crawl', schedule({ scheduleType: 'hourly', minute: 1 }, { metadata: JSON.parse('['.repeat(40) + ']'.repeat(40)) as unknown }), /metadata/],
  ['send_email', {}, /emailTemplateType/],
  ['send_email', { ...letter, emailTemplateType: 'other' }, /Unknown Template/],
  ['send_email', { ...letter, sendEmailTo: 'a@example.com' }, /sendEmailTo/],
  ['send_email', { ...letter, subject: 'a\nBcc: b@example.com' }, /subject/],
  ['send_email', { ...letter, bcc: ['b@example.com'] }, /bcc/],
  ['send_email', { ...letter, idempotencyKey: 'a\nb' }, /idempotencyKey/],
])('%s describes its invalid arguments, and changes nothing (%#)', async (tool, args, fault) => {
  const agent = await platform.connect('v1', (await platform.createToken(AGENT)).accessToken);
  const before = await stored();
  const result = await agent.call(tool, args);
  expect([result.isError, result.content[0]?.text]).toEqual([true, expect.stringMatching(fault)]);
  expect(result).not.toHaveProperty('structuredContent');
  expect(await stored()).toEqual(before);
});

// prettier-ignore
async function stored() {
  const mailer = mailToken ?? (mailToken = (await platform.createToken(['SEND_MAIL'])).accessToken);
  const [crawls, records] = [await platform.call('GET', `${CRAWL}/schedule/all`), await platform.call('GET', '/api/v1/mail/records?emailTemplateType=loginWithOTP', mailer)];
  return [crawls.body.data, records.body.pagination.total];
}
let mailToken: string | undefined;
