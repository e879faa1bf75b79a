import type { AddressInfo } from 'node:net';
import { findFreePort } from '@platform/embedded';
import type { FastifyInstance } from 'fastify';
import { createGateway, type GatewayOptions } from '../../src/gateway/server.js';
import { type EchoService, startEchoService } from './echo-service.js';

/** Starts a gateway for the tests of a file, in front of an identity that echoes; mail and crawl are unavailable. */
export function useGateway(options: GatewayOptions = {}) {
  let identity: EchoService;
  let gateway: FastifyInstance;
  beforeAll(async () => {
    identity = await startEchoService();
    const goneUrl = `http://127.0.0.1:${await findFreePort()}`;
    gateway = await createGateway(
      [
        {
          name: 'identity',
          url: identity.url,
          prefixes: ['/api/v1/users', '/mcp', '/docs'],
          exact: ['/', '/health/live', '/health/ready'],
          internal: ['/api/v1/users/internal'],
          errorShape: 'standard',
        },
        {
          name: 'mail',
          url: goneUrl,
          prefixes: ['/api/v1/mail', '/docs/mail'],
          internal: ['/api/v1/mail/internal'],
          errorShape: 'standard',
        },
        {
          name: 'crawl',
          url: goneUrl,
          prefixes: ['/api/v1/crawlingManager'],
          internal: [],
          errorShape: 'crawl',
        },
      ],
      options,
    );
    await gateway.listen({ port: 0, host: '127.0.0.1' });
  });

  afterAll(async () => {
    await gateway.close();
    await identity.stop();
  });

  beforeEach(() => {
    identity.targets.length = 0;
  });

  return {
    get identity() {
      return identity;
    },
    get port() {
      return (gateway.server.address() as AddressInfo).port;
    },
  };
}
