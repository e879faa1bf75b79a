import type { AddressInfo } from 'node:net';
import { authPlugin, createIdentityClient, getMember, requireMember, requireScopes } from '@platform/auth';
import { type Clock, createApp, createLogger, standardErrors, systemClock } from '@platform/service-kit';
import { type Answer, callUrl } from '@platform/testing';
import { serviceClient } from '../../identity.js';

export interface ProbeService {
  /** A route that requires `user:read`, guarded as in any service of the platform. */
  whoami(token: string, headers?: Record<string, string>): Promise<Answer>;
  /** The same for `pat:read`. */
  readTokens(token: string): Promise<Answer>;
  close(): Promise<void>;
}

/** Starts a service that verifies credentials with the keys and the introspection of an identity. */
export async function startProbeService(
  identityUrl: string,
  clock: Clock = systemClock,
): Promise<ProbeService> {
  const identity = createIdentityClient({
    identityUrl,
    clientId: serviceClient.id,
    clientSecret: serviceClient.secret,
    timeoutMs: 5_000,
    clock,
  });
  const { app } = await createApp({
    service: 'probe',
    title: 'Probe',
    description: 'A service for tests.',
    errors: standardErrors,
    log: createLogger('probe', 'silent'),
    trustProxy: ['127.0.0.1'],
  });
  await app.register(authPlugin, {
    issuer: 'workspace-platform',
    audience: 'crawl',
    keySet: identity.keySet,
    liveness: identity.liveness,
    clock,
    clockToleranceMs: 60_000,
    publicUrl: 'http://127.0.0.1',
  });
  for (const [route, scope] of [
    ['/whoami', 'user:read'],
    ['/tokens', 'pat:read'],
  ] as const)
    app.get(route, { onRequest: [app.authenticate, requireMember, requireScopes([scope])] }, (request) => {
      const { userId, role, email } = getMember(request);
      return { userId, role, email };
    });
  await identity.start();
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    whoami: (token, headers = {}) => callUrl(`http://127.0.0.1:${port}/whoami`, 'GET', { token, headers }),
    readTokens: (token) => callUrl(`http://127.0.0.1:${port}/tokens`, 'GET', { token }),
    async close() {
      await app.close();
      await identity.close();
    },
  };
}
