import type { UserPrincipal } from '@platform/auth';
import { AppError, DAY_MS } from '@platform/service-kit';
import { canGrant, grantExpiry, grantScopes } from './grant.js';

const NOW = Date.parse('2026-11-21T12:00:00.789Z');

const principal = (fields: Partial<UserPrincipal>): UserPrincipal => ({
  kind: 'session',
  credentialId: 'c',
  userId: 'u',
  orgId: 'o',
  email: 'a@example.com',
  fullName: 'A',
  role: 'member',
  grantedScopes: new Set(),
  expiresAt: NOW + DAY_MS,
  token: 't',
  ...fields,
});
const pat = (scopes: string[], fields: Partial<UserPrincipal> = {}) =>
  principal({ kind: 'pat', grantedScopes: new Set(scopes), ...fields });

function toDetails(act: () => unknown) {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error.details;
    throw error;
  }
  return undefined;
}

describe('scopes', () => {
  test.each([
    ['a member with a session', principal({}), 'kb:read', true],
    ['a member with a session', principal({}), 'config:read', false],
    ['an administrator with a session', principal({ role: 'admin' }), 'config:read', true],
    ['a token that has it', pat(['kb:read']), 'kb:read', true],
    ['a token that lacks it', pat(['kb:read']), 'user:read', false],
    ["a demoted administrator's token", pat(['config:read']), 'config:read', false],
    ["an administrator's token", pat(['config:read'], { role: 'admin' }), 'config:read', true],
    ['anyone', principal({ role: 'admin' }), 'toString', false],
  ])('%s can grant %3$s: %4$s', (_who, who, scope, expected) => {
    expect(canGrant(who, scope)).toBe(expected);
  });

  test('names every scope that cannot be granted, with its position and the reason', () => {
    expect(
      toDetails(() => grantScopes(pat(['kb:read']), ['kb:read', 'x', 'SEND_MAIL', 'user:read'], [])),
    ).toEqual([
      { field: 'scopes.1', message: 'unknown scope "x"' },
      { field: 'scopes.2', message: 'SEND_MAIL can be granted by an administrator only' },
      { field: 'scopes.3', message: 'user:read cannot be granted by a token that lacks it' },
    ]);
  });

  test('grants the default scopes that the caller has, and rejects a caller that has none of them', () => {
    const defaults = ['kb:read', 'config:read'] as const;
    expect(grantScopes(principal({}), undefined, defaults)).toEqual(['kb:read']);
    expect(grantScopes(principal({ role: 'admin' }), undefined, defaults)).toEqual([...defaults]);
    expect(toDetails(() => grantScopes(pat(['pat:write']), undefined, defaults))?.[0]?.field).toBe('scopes');
  });
});

describe('expiry', () => {
  const own = Math.floor((NOW + 30 * DAY_MS) / 1_000) * 1_000;
  const token = (expiresAt: number | null) => pat(['pat:write'], { expiresAt });

  test('falls on a whole second, defaults to 30 days, is null for never, and is not bounded by a session', () => {
    expect(grantExpiry(principal({}), undefined, NOW)).toBe(own);
    expect(grantExpiry(principal({}), 365, NOW)).toBe(own + 335 * DAY_MS);
    expect(grantExpiry(principal({}), 'never', NOW)).toBeNull();
    expect(grantExpiry(token(null), 'never', NOW)).toBeNull();
  });

  test.each([
    ['the default past it is cut', own - 10 * DAY_MS, undefined, own - 10 * DAY_MS],
    ['a named one before it stays', own + 1_000, 30, own],
    ['a named one at it stays', own, 30, own],
    ['a named one a day past it is cut', own - DAY_MS, 30, own - DAY_MS],
    ['a named one a day and a second past it is refused', own - DAY_MS - 1_000, 30, 'expiryDays'],
    ['never is refused', own, 'never', 'expiryDays'],
  ] as const)(
    'compared with the expiry of the creating token: %s',
    (_what, expiresAt, requested, expected) => {
      const act = () => grantExpiry(token(expiresAt), requested, NOW);
      const faults = toDetails(act);
      expect(faults ? faults[0]?.field : act()).toBe(expected);
    },
  );
});
