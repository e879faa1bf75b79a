import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startIdentity } from '../identity.js';

const identity = await startIdentity({ environment: { TOKEN_PREFIX: 'acme_' } });
afterAll(() => identity.close());

test.each(['Acme_', 'acme'])('does not start with the prefix %s', async (prefix) => {
  await expect(startIdentity({ environment: { TOKEN_PREFIX: prefix } })).rejects.toThrow('TOKEN_PREFIX');
});

/** CRC-32 bit by bit, apart from the implementation. */
function crc32(text: string): number {
  let crc = 0xff_ff_ff_ff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0);
  }
  return (crc ^ 0xff_ff_ff_ff) >>> 0;
}

test('a token has the prefix and the documented form, its checksum is right, and any prefix and none are accepted', async () => {
  const { accessToken } = await identity.createToken(await identity.login(), { scopes: ['user:read'] });
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/connect/secret-scanning.md'), 'utf8');
  const documented = /^pat_eyJ.*$/m.exec(page)?.[0] ?? '';
  expect(accessToken).toMatch(new RegExp(`^${documented.replace('pat_', 'acme_')}$`));
  const [body = '', checksum = ''] = accessToken.split(/_(?=[^_]*$)/);
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const toValue = (text: string) =>
    text.split('').reduce((value, digit) => value * 62 + digits.indexOf(digit), 0);
  const jwt = body.slice('acme_'.length);
  expect(toValue(checksum)).toBe(crc32(jwt));
  for (const token of [jwt, `pat_${jwt}`, `other_${jwt}`, `pat_${jwt}_${checksum}`, `${jwt}_${checksum}`])
    expect((await identity.call('GET', '/api/v1/users/me', { token })).status).toBe(200);
  for (const token of [`pat_pat_${jwt}`, `-${jwt}`, `${accessToken}_000000`, `pat_${jwt}_000000`])
    expect((await identity.call('GET', '/api/v1/users/me', { token })).status).toBe(401);
});
