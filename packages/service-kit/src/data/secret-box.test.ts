import { createSecretBox } from './secret-box.js';

const toKey = (number: number) => ({ id: `k${number}`, key: Buffer.alloc(32, number) });
const before = createSecretBox([toKey(1)]);
const rotated = createSecretBox([toKey(2), toKey(1)]);
const bytes = Buffer.from([0x2e, 0, 0xff, 0x2e, 0x2e]);

test('what an earlier key sealed is opened after a rotation, and new values take the new key', () => {
  expect(rotated.open(before.seal('a secret', 'row 1'), 'row 1')).toBe('a secret');
  expect(rotated.openBytes(before.sealBytes(bytes, 'row 1'), 'row 1')).toEqual(bytes);
  expect(() => before.open(rotated.seal('a secret', 'row 1'), 'row 1')).toThrow('no key');
  expect(() => before.openBytes(rotated.sealBytes(bytes, 'row 1'), 'row 1')).toThrow('no key');
});

test('a value that was moved to another row, or altered, is not opened', () => {
  expect(() => before.open(before.seal('a secret', 'row 1'), 'row 2')).toThrow();
  const sealed = before.sealBytes(bytes, 'row 1');
  expect(() => before.openBytes(sealed, 'row 2')).toThrow();
  for (const index of sealed.keys()) {
    const altered = Buffer.from(sealed);
    altered.writeUInt8(sealed.readUInt8(index) ^ 1, index);
    expect(() => before.openBytes(altered, 'row 1')).toThrow();
  }
  expect(() => before.openBytes(Buffer.alloc(0), 'row 1')).toThrow();
});
