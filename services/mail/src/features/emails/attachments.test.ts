import { readAttachments } from './attachments.js';

const read = (content: string, fields: object = {}) =>
  readAttachments([{ filename: 'a.txt', content, contentType: 'text/plain', ...fields }]);

test.each([
  ['', ''],
  ['aGVsbG8=', 'hello'],
  ['aGVsbG8', 'hello'],
  ['aGVsbA==', 'hell'],
  ['aGVs', 'hel'],
])('decodes %j as base64', async (content, text) => {
  const result = await read(content);
  expect('decoded' in result && result.decoded[0]?.content.toString()).toBe(text);
});

test.each([
  '*',
  '***',
  'aGVsb',
  'aG Vs',
  'aGVs\n',
  'aG-s',
  'aG_s',
  '====',
  'aG=s',
  'aGVsbG8=aGVs',
  'aGVsbG8==',
  '=',
  'é',
  '{"a":1}',
])('rejects %j as base64', async (content) => {
  expect(await read(content)).toEqual({
    faults: [{ field: 'attachments.0.content', message: 'must be base64' }],
  });
});

test.each(['a\r\nb', 'a\u0000', '\u202egnp.exe', 'a\u2028b'])(
  'rejects %j as a file name',
  async (filename) => {
    expect(await read('', { filename })).toMatchObject({ faults: [{ field: 'attachments.0.filename' }] });
  },
);

test.each([
  'text',
  'text/',
  '/plain',
  'text/plain\r\nX: y',
  'text/plain; a',
  'text/plain;\r\n a=b',
  'multipart/mixed',
  'a b/c',
])('rejects %j as a media type', async (contentType) => {
  expect(await read('', { contentType })).toMatchObject({
    faults: [{ field: 'attachments.0.contentType' }],
  });
});

test.each([
  'text/plain',
  'application/vnd.ms-excel',
  'text/plain; charset=utf-8',
  'text/x; a="b c"',
  'image/svg+xml',
])('accepts %j as a media type', async (contentType) => {
  expect(await read('', { contentType })).toHaveProperty('decoded');
});

test('more than 25 MiB together are refused before anything is decoded', async () => {
  const half = 'A'.repeat(18_000_000);
  const attachment = { filename: 'a', contentType: 'text/plain', content: half };
  expect(await readAttachments([attachment, attachment])).toEqual({
    faults: [{ field: 'attachments', message: 'must have at most 25 MiB in all' }],
  });
});
