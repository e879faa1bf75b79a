import type { App } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type Provider from 'oidc-provider';
import { ISSUER_PATH } from './provider.js';

/** The headers from which Koa would take its own address: they are pinned, so that no caller chooses it. */
function pinHeaders(request: FastifyRequest, { host, protocol }: URL): void {
  const { headers } = request.raw;
  headers.host = host;
  headers['x-forwarded-proto'] = protocol.slice(0, -1);
  headers['x-forwarded-for'] = request.ip;
  delete headers['x-forwarded-host'];
}

/**
 * Creates an `onRequest` hook that passes requests to the provider, which reads the body and answers on the raw response.
 * Fastify's later hooks don't run.
 */
export function createMount(provider: Provider, publicUrl: string) {
  const callback = provider.callback();
  const address = new URL(publicUrl);
  return (request: FastifyRequest, reply: FastifyReply): void => {
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    reply.hijack();
    pinHeaders(request, address);
    const raw = Object.assign(request.raw, { originalUrl: request.raw.url });
    raw.url = (raw.url ?? '/').slice(ISSUER_PATH.length);
    void callback(raw, reply.raw);
  };
}

/** Open to everyone: the endpoints of the authorization server. Bodies are left to the provider. */
export function oauthRoutes(app: App, mount: ReturnType<typeof createMount>): void {
  app.register((scope: App, _options, done) => {
    const answer = { onRequest: mount, schema: { hide: true }, handler: () => undefined };
    scope.route({ method: ['POST', 'OPTIONS'], url: `${ISSUER_PATH}/token`, ...answer });
    done();
  });
}
