import { linkIn, startPlatform } from '../../sign-in/account-flows/platform.js';
import { ALLOW_LOCAL, createAgent, createMounts } from './platform.js';
import { startStateful } from './stateful-server.js';

/* What members are mailed of servers that they use as themselves. */

const platform = await startPlatform(ALLOW_LOCAL);
const { identity, session } = platform;
const mounts = createMounts(identity, session);
/** The keys that the server refuses. */
const refused = new Set<string>();
const server = await startStateful(({ 'x-api-key': key }) =>
  typeof key === 'string' && !refused.has(key) ? key : undefined,
);
const id = await mounts.mountInEffect(
  server.url,
  { search: 'kb:read' },
  { credential: { kind: 'personal', header: 'x-api-key', value: 'for-lists' } },
);
afterAll(async () => {
  await server.close();
  await platform.close();
});

const path = `/api/v1/mcp-servers/${id}`;
const ask = (token = session) => identity.call('POST', `${path}/credentials/requests`, { token });
const toAskedAgain = 'Connect your account at wiki';
async function createPerson() {
  const member = await identity.createMember(session);
  const connect = (value: string) =>
    identity.call('PUT', `${path}/my-credential`, { token: member.session, body: { value } });
  return { ...member, connect, agent: createAgent(identity, member.session) };
}

test('MAIL-45 a member whose account a server refuses is mailed once, with the way to sign in again', async () => {
  const ada = await createPerson();
  const subject = /^Sign in at wiki again$/;
  await ada.connect('old');
  refused.add('old');
  for (let attempt = 0; attempt < 3; attempt += 1)
    expect(await ada.agent.getText()).toContain('does not accept your account there any more');
  const mail = await platform.mailTo(ada.email, subject);
  expect(linkIn(mail).href).toBe(`http://127.0.0.1:8080/account/services/${id}`);
  // A server that cannot decide causes one mail a day.
  refused.clear();
  expect(await ada.agent.getText()).toContain('old');
  refused.add('old');
  await ada.agent.getText();
  await platform.drained();
  expect(platform.mailsTo(ada.email, subject)).toHaveLength(1);
  // Whoever connects again is told again.
  await ada.connect('old');
  await ada.agent.getText();
  await platform.mailTo(ada.email, subject, 2);
});

test('MAIL-46 people who may use a server and are not connected are asked to connect, each once a week', async () => {
  const group = await identity.call('POST', '/api/v1/groups', { token: session, body: { name: 'Research' } });
  const groupId = group.body.group.id as string;
  const [ada, ben, outsider, gone] = [await createPerson(), await createPerson(), await createPerson(), await createPerson()];
  for (const { id: member } of [ada, ben, gone])
    await identity.call('PUT', `/api/v1/groups/${groupId}/members/${member}`, { token: session });
  await mounts.call('PATCH', `/${id}`, { allowedGroups: [groupId] });
  await ada.connect('hers');
  await identity.call('DELETE', `/api/v1/users/${gone.id}`, { token: session });
  const invited = await platform.createUser({ email: 'invited@example.com', password: undefined });
  await identity.call('PUT', `/api/v1/groups/${groupId}/members/${invited.id}`, { token: session });

  expect((await ask(ada.session)).status).toBe(403);
  const [one, other] = await Promise.all([ask(), ask()]);
  expect([one.body, other.body].map(({ asked }: { asked: number }) => asked).toSorted((a, b) => a - b)).toEqual([0, 1]);
  const mail = await platform.mailTo(ben.email, /^Connect your account/);
  expect([mail.subject, linkIn(mail).href]).toEqual([toAskedAgain, `http://127.0.0.1:8080/account/services/${id}`]);
  expect(mail.text).toContain('(admin@example.com) asks you to connect your account at wiki');
  expect((await ask()).body).toEqual({ asked: 0, remaining: 0, askedBefore: 1, connected: 1 });
  await platform.drained();
  for (const { email } of [ada, outsider, gone, invited])
    expect(platform.mailsTo(email, /^Connect your account/)).toEqual([]);
  identity.advance(8 * 24 * 3_600_000);
  const later = await identity.login();
  expect((await ask(later)).body).toMatchObject({ asked: 1, remaining: 0 });
  await platform.mailTo(ben.email, /^Connect your account/, 2);
  const { rows } = await identity.db.query(
    `select detail from audit_entries where action = 'mcp_credential.asked_for' order by id`,
  );
  expect(rows).toEqual([1, 2].map(() => ({ detail: { server: 'wiki', asked: '1' } })));
}); // oxfmt-ignore

test('MAIL-46 nobody is asked to connect to a server without own credentials, or of another organisation, or without SMTP', async () => {
  const token = await identity.login();
  const plain = await createMounts(identity, token).mount('https://docs.example.com/mcp', { name: 'docs' });
  const askAt = (one: string, by = token) =>
    identity.call('POST', `/api/v1/mcp-servers/${one}/credentials/requests`, { token: by });
  expect((await askAt(plain)).status).toBe(404);
  const stranger = await identity.createOrganisation('boss@stranger.example');
  expect((await askAt(id, stranger.session)).status).toBe(404);
  await identity.call('DELETE', '/api/v1/configurationManager/smtpConfig', { token });
  const { status, body } = await askAt(id);
  expect([status, body.error.code]).toEqual([503, 'MAIL_UNAVAILABLE']);
});
