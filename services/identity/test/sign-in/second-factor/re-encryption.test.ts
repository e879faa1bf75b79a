import { createSecretBox } from '@platform/service-kit';
import { loadEncryptionKeys } from '../../../src/config.js';
import { reencryptAll } from '../../../src/commands/re-encryption/command.js';
import { admin, encryptionKeys, startIdentity } from '../../identity.js';
import { startReplica } from '../../replica.js';
import { beginLogin, challengeIn, createPhone, enrol, sendCode } from './authenticator.js';

const fresh = `k2:${Buffer.alloc(32, 2).toString('base64')}`;

const identity = await startIdentity();
afterAll(() => identity.close());

test('AUTH-31 an authenticator app outlives the encryption key that its secret was sealed with', async () => {
  const phone = createPhone(identity);
  const { app } = await enrol(identity, phone, await identity.login());
  const box = createSecretBox(loadEncryptionKeys({ ENCRYPTION_KEYS: `${fresh},${encryptionKeys}` }));
  expect(await reencryptAll(identity.db, box)).toMatchObject({ 'authenticator secrets': 1 });
  const replica = await startReplica(identity.databaseUrl, { ENCRYPTION_KEYS: fresh });
  try {
    replica.advance(30_000);
    const challenge = challengeIn(await beginLogin(replica, admin));
    expect((await sendCode(replica, challenge, app.nextCode())).status).toBe(200);
  } finally {
    await replica.close();
  }
});
