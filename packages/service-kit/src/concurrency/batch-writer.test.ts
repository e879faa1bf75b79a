import { createBatchWriter } from './batch-writer.js';

interface Use {
  readonly token: string;
  readonly at: number;
}

function setUp({ maxHeld = 100 } = {}) {
  const written: (readonly Use[])[] = [];
  const warnings: string[] = [];
  let failures = 0;
  const writer = createBatchWriter<Use>({
    what: 'uses',
    toKey: ({ token }) => token,
    write: async (items) => {
      if (failures > 0) {
        failures -= 1;
        throw new Error('no connection');
      }
      written.push(items);
    },
    everyMs: 1_000_000,
    maxBatch: 2,
    maxHeld,
    log: {
      warn: (fields: object, message?: string) =>
        warnings.push(`${message} ${'dropped' in fields ? String(fields.dropped) : ''}`.trim()),
    },
  });
  const add = (...tokens: string[]): void => {
    for (const [at, token] of tokens.entries()) writer.add({ token, at });
  };
  return { writer, written, warnings, add, fail: (times: number) => void (failures = times) };
}

const toTokens = (written: readonly (readonly Use[])[]) =>
  written.map((items) => items.map(({ token, at }) => `${token}${at}`).join(' '));

test('writes in batches, the latest item of a key, and nothing twice', async () => {
  const { writer, written, add } = setUp();
  add('a', 'b', 'a', 'c');
  await writer.flush();
  await writer.flush();
  expect(toTokens(written)).toEqual(['a2 b1', 'c3']);
});

test('keeps what could not be written, and what was added meanwhile', async () => {
  const { writer, written, warnings, add, fail } = setUp();
  add('a', 'b', 'c');
  fail(1);
  const failing = writer.flush();
  add('a');
  await failing;
  expect(warnings).toEqual(['failed to write uses; retrying']);
  await writer.flush();
  expect(toTokens(written)).toEqual(['a0 b1', 'c2']);
});

test('an item that was replaced while it was written is written again', async () => {
  const { writer, written, add } = setUp();
  add('a');
  const flushing = writer.flush();
  writer.add({ token: 'a', at: 9 });
  await flushing;
  await writer.flush();
  expect(toTokens(written)).toEqual(['a0', 'a9']);
});

test('drops what is too much, and says how much', async () => {
  const { writer, written, warnings, add } = setUp({ maxHeld: 2 });
  add('a', 'b', 'c', 'd', 'a');
  await writer.flush();
  expect(toTokens(written)).toEqual(['a4 b1']);
  expect(warnings).toEqual(['dropped uses: there were too many at once 2']);
});

test('tries twice when it stops', async () => {
  const { writer, written, add, fail } = setUp();
  add('a');
  fail(1);
  await writer.stop();
  expect(toTokens(written)).toEqual(['a0']);
});
