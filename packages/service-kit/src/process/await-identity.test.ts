import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { VERSION } from '../version.js';
import { awaitIdentity, isOlderVersion } from './await-identity.js';

test.each([
  ['0.1.9', '0.2.0', true],
  ['0.2.0', '0.10.0', true],
  ['0.2.0', '0.2.0', false],
  ['1.0.0', '0.2.0', false],
  ['0.2.0-rc.1', '0.2.0', false],
  ['unknown', '0.2.0', false],
])('%s is older than %s: %s', (version, than, isOlder) => {
  expect(isOlderVersion(version, than)).toBe(isOlder);
});

describe('the command await-identity', () => {
  let versions: (string | undefined)[] = [];
  let requests = 0;
  const identity = createServer((_request, response) => {
    const version = versions[Math.min(requests++, versions.length - 1)];
    response.writeHead(version === undefined ? 503 : 200).end(version && JSON.stringify({ version }));
  });
  beforeAll(async () => {
    await once(identity.listen(0, '127.0.0.1'), 'listening');
    process.env['IDENTITY_URL'] = `http://127.0.0.1:${(identity.address() as AddressInfo).port}`;
  });
  afterAll(() => void identity.close());

  test.each([
    { title: 'a replica still has an older version', first: [VERSION, VERSION, '0.0.9'], expected: 13, lines: /^identity is still 0\.0\.9, .*\n$/ },
    { title: 'identity does not respond yet', first: [undefined], expected: 11, lines: /^identity does not respond: .*\n$/ },
    { title: 'identity is newer, as in a rollback', first: ['1.0.0'], expected: 10, lines: /^$/ },
  ])('ends after ten responses in a row that are not older, and reports why it waits: $title', async ({ first, expected, lines }) => {
    [versions, requests] = [[...first, VERSION], 0];
    const write = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    await awaitIdentity([]);
    const written = write.mock.calls.map(([line]) => String(line)).join('');
    write.mockRestore();
    expect([requests, written]).toEqual([expected, expect.stringMatching(lines)]);
  }); // oxfmt-ignore
});
