import { createConnection } from 'node:net';
import { callUrl, describeWith, testIdentity, testKafka, testRedis } from '../src/index.js';

const accepts = (address: string) =>
  new Promise<boolean>((resolve) => {
    const { hostname, port } = new URL(address.includes('//') ? address : `tcp://${address}`);
    const socket = createConnection(Number(port), hostname, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

describeWith('kafka', 'the broker of the run', () => {
  test('is shared by all callers, and accepts connections', async () => {
    const [one, two] = await Promise.all([testKafka(), testKafka()]);
    expect(one).toEqual(two);
    await expect(accepts(one.brokers[0] ?? '')).resolves.toBe(true);
  });
});

describeWith('redis', 'the Redis of the run', () => {
  test('is shared by all callers, and accepts connections', async () => {
    const [one, two] = await Promise.all([testRedis(), testRedis()]);
    expect(one).toEqual(two);
    await expect(accepts(one.url)).resolves.toBe(true);
  });
});

describe('the identity of the run', () => {
  test('returns the same organisation for the same name, and a new one without a name', async () => {
    const { url, organisation } = await testIdentity();
    const [one, two, other] = await Promise.all([
      organisation('lazy-services'),
      organisation('lazy-services'),
      organisation(),
    ]);
    expect(two).toEqual(one);
    expect(other.orgId).not.toBe(one.orgId);
    for (const { orgId, admin } of [one, other]) {
      const login = await callUrl(`${url}/api/v1/auth/login`, 'POST', { body: admin });
      expect([login.status, login.body.user.orgId]).toEqual([200, orgId]);
    }
  });
});
