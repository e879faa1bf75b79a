import type { Fixture } from '../../runner/fixture.js';
import { startIdentity } from '../../servers/identity.js';
import { startProgram } from '../../servers/process.js';
import { fill } from './dataset.js';

export const ME = '/api/v1/users/me';
export const SCOPES = ['user:read', 'pat:read'];
/** The tokens that a load uses at once, the same number everywhere. */
export const USED_AT_ONCE = 1_000;

/*
 * The measured servers share one core; PostgreSQL and the load share the other. One identity has a thousand tokens, the
 * other a million tokens of 100,000 members in ten organisations of the same size.
 */
export const startBare = async ({ keep }: Fixture) =>
  keep(await startProgram(new URL('bare.js', import.meta.url)));

export async function startSmall(fixture: Fixture) {
  const identity = await startIdentity(fixture, 'bench_thousand');
  const tokens = await identity.createTokens(USED_AT_ONCE, { scopes: SCOPES });
  await fill(identity.databaseUrl, { organisations: 1, members: 100, tokens: 0 });
  return { ...identity, tokens };
}

export async function startLarge(fixture: Fixture) {
  const identity = await startIdentity(fixture, 'bench_million');
  const tokens = await identity.createTokens(USED_AT_ONCE, { scopes: SCOPES });
  fixture.progress('filling a database with 1,000,000 tokens of 100,000 members');
  await fill(identity.databaseUrl, { organisations: 10, members: 10_000, tokens: 100_000 });
  return { ...identity, tokens };
}
