import { generateKeyPairSync } from 'node:crypto';
import { importSPKI, jwtVerify } from 'jose';
import { createJwtSigner } from './jwt-signer.js';

function createKey(kid: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { kid, privatePem: privateKey, publicPem: publicKey };
}

test('each token is signed with the key that is named for it, also when the key changes meanwhile', async () => {
  const keys = [createKey('first'), createKey('second')];
  const sign = createJwtSigner();
  const tokens = await Promise.all(
    [0, 1, 0, 1, 1].map(async (index) => {
      const key = keys[index] ?? createKey('none');
      return { key, token: await sign({ sub: 'someone', iat: 1, exp: 4_000_000_000 }, key) };
    }),
  );
  for (const { key, token } of tokens) {
    const { payload, protectedHeader } = await jwtVerify(token, await importSPKI(key.publicPem, 'EdDSA'));
    expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'JWT', kid: key.kid });
    expect(payload).toEqual({ sub: 'someone', iat: 1, exp: 4_000_000_000 });
  }
});

test('a key that cannot be read fails the signature', async () => {
  const sign = createJwtSigner();
  await expect(sign({ sub: 'someone' }, { kid: 'broken', privatePem: 'no key' })).rejects.toThrow();
});
