import { type IdentityUnderTest, startIdentity } from '../../identity.js';
import { run } from '../../process/process.js';
import { SETTINGS } from './flow.js';

let identity: IdentityUnderTest;
let former: { orgId: string; session: string };
let owner: { orgId: string; session: string };

beforeAll(async () => {
  identity = await startIdentity();
  former = await identity.createOrganisation('boss@former.example');
  owner = await identity.createOrganisation('boss@owner.example');
});
afterAll(() => identity.close());

const command = (...args: string[]) => run('cli.js', { DATABASE_URL: identity.databaseUrl }, args).exit;
const verify = ({ orgId }: { orgId: string }) =>
  command('verify-domain', '--organisation', orgId, '--domain', 'bücher.example');
const release = (domain: string) => command('release-domain', '--domain', domain);
const readDomains = async ({ session }: { session: string }) => {
  const { body } = await identity.call('GET', SETTINGS, { token: session });
  return (body.domains as { domain: string }[]).map(({ domain }) => domain);
};

test('IDP-3 release-domain takes a verified domain from its organisation, and another one can verify it', async () => {
  expect((await verify(former)).code).toBe(0);
  const taken = await verify(owner);
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('Another organisation')]);

  const released = await release('Bücher.example.');
  expect(released).toMatchObject({
    code: 0,
    stdout: `xn--bcher-kva.example released from organisation ${former.orgId}\n`,
    stderr: '',
  });
  expect(await readDomains(former)).toEqual([]);
  const audit = await identity.call('GET', '/api/v1/audit?action=identity_domain.removed', {
    token: former.session,
  });
  expect(audit.body.data).toEqual([
    expect.objectContaining({ reason: 'command', detail: { domain: 'xn--bcher-kva.example' } }),
  ]);

  expect((await verify(owner)).code).toBe(0);
  expect(await readDomains(owner)).toEqual(['xn--bcher-kva.example']);
});

test('IDP-4 every administrator is mailed about what an operator changes', async () => {
  const { orgId } = await identity.createOrganisation('boss@mailed.example');
  const succeed = async (...args: string[]) => expect(await command(...args)).toMatchObject({ code: 0 });
  await succeed('verify-domain', '--organisation', orgId, '--domain', 'mailed.example');
  await identity.db.query(
    `insert into identity_providers (org_id, issuer, client_id, scopes, second_factor_values, is_just_in_time, is_required,
       revision, created_at, updated_at)
     values ($1, 'https://login.example', 'platform', '{}', '{}', false, true, gen_random_uuid(), now(), now())`,
    [orgId],
  );
  await succeed('lift-provider-requirement', '--organisation', orgId);
  await succeed('release-domain', '--domain', 'mailed.example');
  const { rows } = await identity.db.query(
    `select detail from outgoing_mails join users on users.id = user_id
     where users.email = 'boss@mailed.example' and kind = 'token_alert' order by outgoing_mails.id`,
  );
  expect(rows.map(({ detail }) => detail as unknown)).toEqual([
    { notice: 'domainVerified', domain: 'mailed.example' },
    { notice: 'requirementLifted' },
    { notice: 'domainRemoved', domain: 'mailed.example' },
  ]);
});

test('remove-member frees an address that an organisation holds without right, and mails its administrators', async () => {
  const { orgId, session } = await identity.createOrganisation('boss@holder.example');
  const body = { email: 'held@elsewhere.example', fullName: 'Ada', password: 'a long enough password' };
  expect((await identity.call('POST', '/api/v1/users', { token: session, body })).status).toBe(201);
  expect(await command('remove-member', '--email', 'Held@elsewhere.example')).toMatchObject({
    code: 0,
    stdout: `held@elsewhere.example removed from organisation ${orgId}\n`,
  });
  expect((await identity.call('POST', '/api/v1/users', { token: owner.session, body })).status).toBe(201);
  const mails = await identity.db.query(
    `select from outgoing_mails join users on users.id = user_id
     where users.org_id = $1 and detail ->> 'notice' = 'memberRemovedByOperator'`,
    [orgId],
  );
  expect(mails.rowCount).toBe(1);
  const last = await command('remove-member', '--email', 'boss@holder.example');
  expect([last.code, last.stderr]).toEqual([1, expect.stringContaining('last administrator')]);
  expect((await command('remove-member')).code).toBe(2);
});

test('IDP-3 release-domain leaves a domain alone that is not verified', async () => {
  const body = { domain: 'pending.example' };
  await identity.call('POST', `${SETTINGS}/domains`, { token: former.session, body });
  const answer = await release('pending.example');
  expect([answer.code, answer.stderr]).toEqual([1, 'No organisation has verified pending.example\n']);
  expect(await readDomains(former)).toEqual(['pending.example']);
});

test.each([[['release-domain']], [['release-domain', '--domain', 'no domain']]])(
  'IDP-3 %j is a usage error',
  async (args) => {
    const { code, stderr } = await command(...args);
    expect([code, stderr.trim().split('\n')]).toEqual([2, [expect.stringContaining('--domain')]]);
  },
);

test('the help names release-domain', async () => {
  expect((await command('--help')).stdout).toContain('release-domain');
});
