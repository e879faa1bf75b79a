import type { App } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type Provider from 'oidc-provider';
import { adaptAuthorizationRequest } from './authorization-request.js';
import { ISSUER_PATH } from './issuer.js';
import type { CountRegistration } from './registration-limit.js';

/** The headers from which Koa would take its own address: they are pinned, so that no caller chooses it. */
function pinHeaders(request: FastifyRequest, { host, protocol }: URL): void {
  const { headers } = request.raw;
  headers.host = host;
  headers['x-forwarded-proto'] = protocol.slice(0, -1);
  headers['x-forwarded-for'] = request.ip;
  delete headers['x-forwarded-host'];
}

/**
 * Creates `onRequest` hooks that pass requests to the provider, which reads the body and answers on the raw response.
 * Fastify's later hooks don't run.
 *
 * @returns a function from the rule that turns the address of a request into that of the provider, to the hook.
 */
export function createMount(provider: Provider, publicUrl: string) {
  const callback = provider.callback();
  const address = new URL(publicUrl);
  return (toUrl: (url: string) => string) =>
    (request: FastifyRequest, reply: FastifyReply): void => {
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) reply.raw.setHeader(name, value);
      reply.hijack();
      pinHeaders(request, address);
      const url = toUrl(request.raw.url ?? '/');
      // The provider finds the path that it is mounted at by comparing the two.
      void callback(Object.assign(request.raw, { url, originalUrl: ISSUER_PATH + url }), reply.raw);
    };
}
export type Mount = ReturnType<typeof createMount>;

const schema = { hide: true } as const;
const handler = (): void => undefined;
const withoutPrefix = (url: string): string => url.slice(ISSUER_PATH.length);

/**
 * Open to everyone: the endpoints of the authorization server. Bodies are left to the provider.
 *
 * @param count - counts a request of an address. It throws AppError 429.
 */
export function oauthRoutes(app: App, mount: Mount, count: (address: string) => void): void {
  const limit = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    count(request.ip);
    done();
  };
  const pass = { schema, handler, onRequest: [limit, mount(withoutPrefix)] };
  app.route({
    method: 'GET',
    url: `${ISSUER_PATH}/authorize`,
    schema,
    handler,
    onRequest: [limit, mount((url) => adaptAuthorizationRequest(withoutPrefix(url)))],
  });
  app.route({ method: 'GET', url: `${ISSUER_PATH}/authorize/:uid`, ...pass });
  app.route({ method: ['POST', 'OPTIONS'], url: `${ISSUER_PATH}/token`, ...pass });
  app.route({ method: ['POST', 'OPTIONS'], url: `${ISSUER_PATH}/revoke`, ...pass });
}

/** The metadata of the authorization server (RFC 8414 §3.1): at the root, in the form with the issuer's path, and below it. */
export function oauthMetadataRoutes(app: App, mount: Mount): void {
  const document = '/.well-known/oauth-authorization-server';
  const onRequest = mount(() => document);
  for (const url of [document, document + ISSUER_PATH, ISSUER_PATH + document])
    app.route({ method: ['GET', 'OPTIONS'], url, schema, handler, onRequest });
}

/** Open to everyone, when an operator has turned it on: dynamic client registration (RFC 7591). */
export function registrationRoutes(app: App, mount: Mount, count: CountRegistration): void {
  const url = `${ISSUER_PATH}/register`;
  const cors = {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'content-type',
  };
  const register = mount(withoutPrefix);
  app.route({
    method: 'OPTIONS',
    url,
    schema,
    handler: (_request, reply) => reply.code(204).headers(cors).send(),
  });
  app.route({
    method: 'POST',
    url,
    schema,
    handler,
    async onRequest(request, reply) {
      await count(request.ip);
      register(request, reply.headers(cors));
    },
  });
}
