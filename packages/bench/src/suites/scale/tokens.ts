import { load } from '../../load/load.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { startIdentity } from '../../servers/identity.js';
import { execute } from '../../servers/service.js';
import { fill } from '../auth/dataset.js';
import { ME, SCOPES, USED_AT_ONCE } from '../auth/environment.js';
import { describeCosts, measureCosts, readStatementTimes } from './cost.js';
import { measureBackup, measureMibPerMillion, measureVacuum, sizes, waitUntilDeleted } from './upkeep.js';

const REQUESTS_PER_SECOND = 20_000;
const CREATED = 2_000;

/** Tokens that ended longer ago than the audit is kept. */
const insertEnded = `
  insert into personal_access_tokens
    (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, status, created_at, expires_at)
  select uuidv7(-interval '900 days'), org_id, owner_id, 'ended', scopes, token_hash, signing_key_id, 'expired',
    now() - interval '900 days', now() - interval '800 days'
  from personal_access_tokens limit $1`;

export const tokens = defineMeasurement({
  title: 'tokens: what requests and creations cost, and their upkeep',
  limitSeconds: 420,
  values: {
    tokens: { note: 'tokens, ten of each member' },
    tokens_mib: { unit: 'MiB', note: 'a million tokens with their last uses and indexes' },
    ...describeCosts('request', 'users/me with a token'),
    requests: { unit: '/s', note: 'users/me with a token, 50 connections' },
    request_p99: { unit: 'ms', note: '99 % of them' },
    live_ms: { unit: 'ms', note: 'the statement that finds live tokens, for all requests of a moment; mean' },
    live_max_ms: { unit: 'ms', note: 'the slowest of them' },
    ...describeCosts('creation', 'new token'),
    tokens_vacuum: { unit: 's', note: 'vacuum of the tokens after a hundredth was rewritten' },
    tokens_deleted: { unit: '/s', note: 'ended tokens deleted by the retention' },
    tokens_backup: { unit: 's', note: 'pg_dump -Fc of identity' },
    tokens_backup_mib: { unit: 'MiB', note: 'its size' },
  },
  async run(fixture) {
    const { organisations, members, tokens: each, ended } = sizes(fixture);
    const identity = await startIdentity(fixture, 'bench_scale_identity');
    const { databaseUrl } = identity;
    const bearers = await identity.createTokens(USED_AT_ONCE, { scopes: SCOPES });
    fixture.progress(`inserting ${organisations * each} tokens`);
    await fill(databaseUrl, { organisations, members, tokens: each });
    const mib = await measureMibPerMillion(databaseUrl, ['personal_access_tokens', 'token_last_used']);

    const site = { databaseUrl, server: identity };
    const calls = bearers.map((bearer) => ({ bearer }));
    const request = (requests: number) => load(identity.url + ME, calls, { requests });
    await request(REQUESTS_PER_SECOND);
    fixture.progress('requests');
    let loaded = { requestsPerSecond: Number.NaN, p99Ms: Number.NaN };
    const requestCosts = await measureCosts(fixture, 'request', site, async () => {
      const requests = REQUESTS_PER_SECOND * fixture.seconds;
      loaded = await request(requests);
      return requests;
    });
    const live = await readStatementTimes(databaseUrl, 'left join token_policies p on p.org_id = t.org_id');
    fixture.progress('creations');
    const creationCosts = await measureCosts(fixture, 'creation', site, async () => {
      await identity.createTokens(CREATED, { scopes: SCOPES });
      return CREATED;
    });
    const vacuum = await measureVacuum(fixture, databaseUrl, 'personal_access_tokens', 'name');
    await execute(databaseUrl, ['select pg_stat_statements_reset()'], [insertEnded, [ended]]);
    await waitUntilDeleted(
      fixture,
      databaseUrl,
      `personal_access_tokens where status <> 'active' and expires_at < now() - interval '2 years'`,
    );
    const deletion = await readStatementTimes(databaseUrl, 'delete from personal_access_tokens');
    const backup = await measureBackup(fixture, databaseUrl);
    return {
      tokens: organisations * each,
      tokens_mib: mib,
      ...requestCosts,
      requests: loaded.requestsPerSecond,
      request_p99: loaded.p99Ms,
      live_ms: live.meanMs,
      live_max_ms: live.maxMs,
      ...creationCosts,
      tokens_vacuum: vacuum,
      tokens_deleted: (ended * 1_000) / deletion.totalMs,
      tokens_backup: backup.seconds,
      tokens_backup_mib: backup.mib,
    };
  },
});
