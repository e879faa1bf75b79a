import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEgress, createSecretBox, createWebhookSecrets, encryptionKeys } from '@platform/service-kit';
import { loadIdentityConfig } from '../../src/config.js';
import { destinationSecretContext } from '../../src/destinations/secrets.js';
import { egressLimits, sendFacts } from '../../src/destinations/send.js';
import { encryptionKeys as keys } from '../identity.js';

/* A receiver whose name leads to another address between two deliveries (DNS rebinding). */

const box = createSecretBox(encryptionKeys.parse(keys) ?? []);
const { DESTINATION_ALLOWED_TARGETS: allowed } = loadIdentityConfig({
  DATABASE_URL: 'postgres://127.0.0.1/none',
  ENCRYPTION_KEYS: keys,
  // Stands for the public addresses.
  DESTINATION_ALLOWED_TARGETS: '127.0.0.2/32',
});
const listen = (server: Server, host: string, port = 0) =>
  new Promise<number>((resolve) => {
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
const close = (server: Server) =>
  new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });

test('EVT-28 the next connection goes to no address that the operator does not allow, whatever the name led to before', async () => {
  const [seen, stolen]: [string[], string[]] = [[], []];
  const receiver = createServer((request, response) => {
    seen.push(String(request.headers['webhook-id']));
    // Another event needs another connection.
    response.writeHead(204, { connection: 'close' }).end();
  });
  const port = await listen(receiver, '127.0.0.2');
  const internal = createServer((request, response) => {
    stolen.push(String(request.headers['webhook-id']));
    response.writeHead(204).end();
  });
  await listen(internal, '127.0.0.1', port);
  let address = '127.0.0.2';
  let lookups = 0;
  const egress = createEgress(allowed, egressLimits, (host) => {
    expect(host).toBe('hooks.example.com');
    lookups += 1;
    return Promise.resolve([{ address, family: 4 }]);
  });
  const ctx = { egress, box, clock: () => Date.now() };
  const id = randomUUID();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const target = {
    id,
    orgId: randomUUID(),
    form: 'subscription',
    url: `http://hooks.example.com:${port}/`,
    secretSealed: box.seal(createWebhookSecrets(secret).secrets, destinationSecretContext(id)),
    secretHeader: null,
    subscriptionKey: 'sub_a',
  };
  try {
    expect((await sendFacts(ctx, target, ['{}'], 'one')).isAccepted).toBe(true);
    address = '127.0.0.1';
    expect(await sendFacts(ctx, target, ['{}'], 'two')).toMatchObject({
      isAccepted: false,
      attempt: { status: null, fault: 'no_address' },
    });
    address = '127.0.0.2';
    expect((await sendFacts(ctx, target, ['{}'], 'three')).isAccepted).toBe(true);
    expect([seen, stolen, lookups]).toEqual([['one', 'three'], [], 3]);
  } finally {
    await egress.agent.destroy();
    await Promise.all([close(receiver), close(internal)]);
  }
});
