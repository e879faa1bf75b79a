import { password, startPlatform } from '../account-flows/platform.js';
import { admin } from '../../identity.js';
import { beginLogin, challengeIn } from './authenticator.js';
import { addPasskey, prove, removePasskey, signInWith } from './passkey.js';

const platform = await startPlatform();
afterAll(() => platform.close());

test('AUTH-32 a member whose second factor an administrator resets is mailed', async () => {
  const { identity } = platform;
  const user = await platform.createUser();
  await addPasskey(identity, await identity.login({ email: user.email, password }));
  const token = await identity.login(admin);
  const answer = await identity.call('DELETE', `/api/v1/users/${user.id}/second-factor`, { token });
  expect(answer.status).toBe(200);
  expect((await platform.mailTo(user.email, /was reset/)).text).toContain('An administrator removed it');
});

test('AUTH-38 a member is mailed when a passkey is added or removed, and when one may be copied', async () => {
    const { identity } = platform;
  const user = await platform.createUser();
  const token = await identity.login({ email: user.email, password });
  const { passkey } = await addPasskey(identity, token);
  await platform.mailTo(user.email, /A passkey was added/);
  const challenge = challengeIn(await beginLogin(identity, { email: user.email, password }));
  expect((await signInWith(identity, challenge, passkey, { counter: 0 })).status).toBe(401);
  expect((await platform.mailTo(user.email, /may have been copied/)).text).toMatch(/two\s+devices\s+seem\s+to\s+have\s+it/);
  const { secondFactor } = (await identity.call('GET', '/api/v1/auth/second-factor', { token })).body as { secondFactor: { passkeys: { id: string }[] } };
  const proof = await prove(identity, token, passkey);
  const removed = await removePasskey(identity, { session: token }, secondFactor.passkeys[0]?.id ?? '', proof);
  expect(removed.status).toBe(200);
  await platform.mailTo(user.email, /A passkey of your account was removed/);
}); // prettier-ignore
