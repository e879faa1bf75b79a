import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { waitFor } from '@platform/testing';
import { daily } from '../support/crawls.js';
import { type Platform, startPlatform } from '../support/platform.js';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

describe('the events feed', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ backend: 'postgres' });
  });
  afterAll(() => platform.close());

  const read = (query = '') => platform.call('GET', `/events${query}`);

  it('refuses the cursors from before the database was restored', async () => {
    const body = { scheduleConfig: daily };
    await platform.call('POST', '/wiki_1/schedule', { body });
    await platform.call('POST', '/wiki_1/run');
    const { nextCursor, data } = await waitFor(
      async () => {
        const page = (await read()).body;
        return page.data.length === 1 && page;
      },
      { what: 'the event' },
    );
    expect((await read(`?after=${nextCursor}`)).body).toMatchObject({ data: [], nextCursor });
    const env = { ...process.env, DATABASE_URL: platform.databaseUrl };
    await promisify(execFile)(process.execPath, [cli, 'after-restore'], { env });
    const gone = await read(`?after=${nextCursor}`);
    expect([gone.status, gone.body.error.code]).toEqual([410, 'CURSOR_GONE']);
    const again = (await read()).body;
    expect(again.data).toEqual(data);
    expect((await read(`?after=${again.nextCursor}`)).status).toBe(200);
    const [entry] = await waitFor(
      async () => {
        const path = '/api/v1/audit?action=operator.command_run';
        const { body: audit } = await platform.toIdentity('GET', path, { token: platform.admin.token });
        return audit.data.length > 0 && audit.data;
      },
      { what: 'the entry of the audit' },
    );
    const { orgId } = platform.admin;
    expect(entry).toMatchObject({
      actorId: null, subjectId: orgId, reason: 'command', detail: { command: 'crawl after-restore' },
    }); // oxfmt-ignore
  });
});
