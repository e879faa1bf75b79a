import { AppError } from '@platform/service-kit';
import { createPasswords } from './passwords.js';

/** Hashes for a hundredth of the price. */
const cheap = { memoryCost: 8, timeCost: 1, parallelism: 1 };

test('a flood of passwords waits in a bounded queue, and is refused beyond it', async () => {
  const passwords = createPasswords(cheap);
  const hash = await passwords.hash('correct-horse-battery');
  const answers = await Promise.allSettled(
    Array.from({ length: 200 }, () => passwords.verify(hash, 'correct-horse-battery')),
  );
  const refused = answers
    .filter((answer) => answer.status === 'rejected')
    .map(({ reason }) => reason as unknown);
  expect(answers.filter((answer) => answer.status === 'fulfilled' && answer.value)).toHaveLength(66);
  expect(refused).toHaveLength(134);
  for (const error of refused) {
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({
      statusCode: 503,
      headers: { 'retry-after': '1' },
    });
  }
  expect(await passwords.verify(hash, 'correct-horse-battery')).toBe(true);
});

test('AUTH-12 a flood of strangers keeps nobody out who signs in at a known place, and asks about nobody before', async () => {
  const passwords = createPasswords(cheap);
  const hash = await passwords.hash('correct-horse-battery');
  let asked = 0;
  const verify = (isKnown: boolean) =>
    passwords.verify(hash, 'correct-horse-battery', async () => {
      asked += 1;
      return isKnown;
    });
  const first = Array.from({ length: 66 }, () => verify(false));
  expect(asked).toBe(0);
  const later = await Promise.allSettled([false, ...Array.from({ length: 65 }, () => true)].map(verify));
  expect(later.map(({ status }) => status)).toEqual(['rejected', ...Array.from({ length: 64 }, () => 'fulfilled'), 'rejected']);
  expect(await Promise.all(first)).toHaveLength(66);
}); // oxfmt-ignore

test('two passwords are hashed at once at most, and a fault frees the place', async () => {
  const passwords = createPasswords(cheap);
  const hash = await passwords.hash('correct-horse-battery');
  const broken = Array.from({ length: 10 }, () => passwords.verify('no hash', 'x'));
  for (const answer of await Promise.allSettled(broken)) expect(answer.status).toBe('rejected');
  expect(await passwords.verify(hash, 'correct-horse-battery')).toBe(true);
});

test('hashes as much for an unknown account as for a known one', async () => {
  const passwords = createPasswords();
  const known = await passwords.hash('a-known-password');
  const measureTime = async (hash: string | null | undefined) => {
    const before = process.cpuUsage();
    expect(await passwords.verify(hash, 'some-password')).toBe(false);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  await measureTime(undefined);
  const work = { known: Infinity, unknown: Infinity };
  for (let round = 0; round < 5; round += 1) {
    work.known = Math.min(work.known, await measureTime(known));
    work.unknown = Math.min(work.unknown, await measureTime(undefined));
  }
  // Without the decoy, an unknown account would take a thousandth of the time.
  expect(work.unknown / work.known).toBeGreaterThan(0.3);
  expect(known).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});
