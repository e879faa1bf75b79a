import { DAY_MS } from '@platform/service-kit';
import { createLastUsed, type LastUse } from './last-used.js';

const use = { tokenId: 't', address: null, userAgent: undefined };

test('scopes that could not be written are written with the next flush, with their own days', async () => {
  const written: LastUse[] = [];
  let now = DAY_MS;
  let isAway = true;
  const lastUsed = createLastUsed({
    pool: {} as never,
    async write(_pool, uses) {
      if (!isAway) {
        written.push(...uses);
        return;
      }
      // A use that arrives while the statement is on its way.
      now = 2 * DAY_MS;
      lastUsed.record({ ...use, scopes: ['pat:read', 'user:read'] });
      throw new Error('away');
    },
    clock: () => now,
    log: { warn: () => undefined },
  });
  lastUsed.record({ ...use, scopes: ['user:read'] });
  lastUsed.record({ ...use, scopes: ['crawl:read'] });
  await lastUsed.flush();
  isAway = false;
  await lastUsed.flush();
  expect(written).toEqual([
    expect.objectContaining({
      at: 2 * DAY_MS,
      scopeDays: { 'user:read': 2, 'crawl:read': 1, 'pat:read': 2 },
    }),
  ]);
});
