import { generateKeyPairSync } from 'node:crypto';
import { createSecretBox } from '@platform/service-kit';
import { createSigner } from 'fast-jwt';
import { waitFor } from '@platform/testing';
import { openPrivateKey } from '../../../src/credentials/signing-keys/key.js';
import { rotateKey } from '../../../src/credentials/signing-keys/commands.js';
import { openPrisma } from '../../../src/prisma.js';
import { startIdentity } from '../../identity.js';
import { startReplica } from '../../replica.js';
import { startProbeService } from './probe-service.js';
import { startTraffic } from './traffic.js';

const box = createSecretBox([{ id: 'k1', key: Buffer.alloc(32, 1) }]);

const identity = await startIdentity();
const session = await identity.login();
const probe = await startProbeService(identity.url);
const prisma = openPrisma(identity.db);
afterAll(async () => {
  await probe.close();
  await identity.close();
});

const me = (token: string) => identity.call('GET', '/api/v1/users/me', { token });
const getParts = (token: string) =>
  token
    .replace('pat_', '')
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));

async function signerOfIdentity(): Promise<(claims: object) => string> {
  const key = await prisma.signingKey.findFirstOrThrow();
  const sign = createSigner({ key: openPrivateKey(box, key), kid: key.id, algorithm: 'EdDSA' });
  return (claims) => sign(claims);
}

test('a leaked signing key is not enough to forge a credential', async () => {
  const token = await identity.createToken(session, { scopes: ['kb:read'] });
  const [, claims] = getParts(token.accessToken);
  const sign = await signerOfIdentity();
  const forgeries = [
    { ...claims, scope: 'user:read' },
    { ...claims, jti: '01900000-0000-7000-8000-000000000000', scope: 'user:read' },
    { ...claims, kind: 'session' },
    { ...getParts(session)[1], iat: 1 },
  ];
  for (const forged of forgeries) expect((await me(sign(forged))).status).toBe(401);
});

test('rejects a credential of another issuer, key or algorithm, or of the wrong form', async () => {
  const token = await identity.createToken(session, { scopes: ['user:read'] });
  const [header, claims] = getParts(token.accessToken);
  const sign = await signerOfIdentity();
  const stranger = generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  const { public_key: publicKey } = (await identity.db.query('select public_key from signing_keys')).rows[0];
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const bad = [
    sign({ ...claims, iss: 'somebody-else' }),
    sign({ ...claims, iss: undefined }),
    createSigner({ key: stranger, kid: header.kid, algorithm: 'EdDSA' })(claims),
    createSigner({ key: stranger, kid: 'unknown', algorithm: 'EdDSA' })(claims),
    // The classic algorithm confusion: the public key is used as an HMAC secret.
    createSigner({ key: Buffer.from(publicKey.replaceAll('-', '')), kid: header.kid, algorithm: 'HS256' })(
      claims,
    ),
    `${encode({ alg: 'none', typ: 'JWT', kid: header.kid })}.${encode(claims)}.AAAA`,
    `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`,
    sign({ ...claims, kind: 'root' }),
    sign({ ...claims, org: 7 }),
  ];
  for (const presented of bad) expect((await me(presented)).status).toBe(401);
  expect((await me(token.accessToken)).status).toBe(200);
});

test('rotating the signing key under load rejects no request, and the new key takes over', async () => {
  const token = await identity.createToken(session, { scopes: ['user:read'] });
  const [oldHeader] = getParts(token.accessToken);
  // A key that signs too early is refused until the next poll, which is seconds later.
  const traffic = [
    startTraffic(1, () => me(token.accessToken), 200),
    startTraffic(1, () => probe.whoami(token.accessToken), 200),
    startTraffic(
      1,
      async () => {
        const fresh = await identity.createToken(session, { scopes: ['user:read'] });
        const answers = await Promise.all([me(fresh.accessToken), probe.whoami(fresh.accessToken)]);
        return answers.find(({ status }) => status !== 200) ?? answers[0];
      },
      200,
    ),
  ];
  const kid = await prisma.$transaction((tx) => rotateKey(tx, box, Date.now()));
  const hasTakenOver = async () => {
    const [header] = getParts((await identity.createToken(session, { scopes: ['user:read'] })).accessToken);
    return header.kid === kid;
  };
  await waitFor(hasTakenOver, { what: 'the new key to sign', intervalMs: 500 });
  const exchanges = (await Promise.all(traffic.map((one) => one.stop()))).flat();
  expect(exchanges.filter(({ status }) => status !== 200)).toEqual([]);
  expect(kid).not.toBe(oldHeader.kid);
  const { body } = await identity.call('GET', '/.well-known/jwks.json');
  expect(new Set(body.keys.map((key: { kid: string }) => key.kid))).toEqual(new Set([oldHeader.kid, kid]));
});

test.each([
  ['the same id with another key', { id: 'k1', key: Buffer.alloc(32, 9) }],
  ['another id with the same key', { id: 'k2', key: Buffer.alloc(32, 1) }],
])('wrong encryption keys, of %s, fail the start and a rotation', async (_what, wrong) => {
  const { id, key } = wrong;
  const ENCRYPTION_KEYS = `${id}:${key.toString('base64')}`;
  const fault = /ENCRYPTION_KEYS must hold the key that sealed the signing key/;
  await expect(startReplica(identity.databaseUrl, { ENCRYPTION_KEYS })).rejects.toThrow(fault);
  const rotation = prisma.$transaction((tx) => rotateKey(tx, createSecretBox([wrong]), Date.now()));
  await expect(rotation).rejects.toThrow(fault);
});

test('a forced rotation leaves lost keys unchanged when the new key cannot be stored', async () => {
  const others = createSecretBox([{ id: 'k2', key: Buffer.alloc(32, 2) }]);
  const halves = async () => (await identity.db.query('select id, private_sealed from signing_keys order by id')).rows;
  const before = await halves();
  await identity.db.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no room'; end $$;
    create trigger refuse before insert on signing_keys execute function refuse()`);
  await expect(prisma.$transaction((tx) => rotateKey(tx, others, Date.now(), { isForced: true }))).rejects.toThrow(/no room/);
  expect(await halves()).toEqual(before);
  await identity.db.query('drop function refuse cascade');
}); // oxfmt-ignore

test('a forced rotation also replaces a lost older key, and activates the new one after the usual delay', async () => {
  const ring = (...bytes: number[]) => createSecretBox(bytes.map((byte) => ({ id: `k${byte}`, key: Buffer.alloc(32, byte) })));
  const rows = async () => (await identity.db.query('select * from signing_keys order by active_from')).rows;
  const before = await rows();
  // It is sealed with the second key, the only one left then.
  await prisma.$transaction((tx) => rotateKey(tx, ring(2, 1), Date.now()));
  const now = Date.now();
  const kid = await prisma.$transaction((tx) => rotateKey(tx, ring(2), now, { isForced: true }));
  const after = await rows();
  expect(after.at(-1)).toMatchObject({ id: kid, active_from: new Date(now + 20_000) });
  for (const { private_sealed } of after) expect(private_sealed).toMatch(/^v1\.k2\./);
  await identity.db.query('delete from signing_keys where not id = any($1)', [before.map(({ id }) => id)]);
  for (const { id, private_sealed } of before)
    await identity.db.query('update signing_keys set private_sealed = $2 where id = $1', [id, private_sealed]);
}); // oxfmt-ignore

test('the JWKS contains no private key', async () => {
  const { body, text } = await identity.call('GET', '/.well-known/jwks.json');
  expect(Object.keys(body.keys[0]).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  expect(text).not.toContain('"d"');
  const { rows } = await identity.db.query('select private_sealed from signing_keys');
  expect(rows[0].private_sealed).toMatch(/^v1\.k1\./);
});
