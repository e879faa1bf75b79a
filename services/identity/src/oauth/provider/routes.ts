import {
  type App,
  AppError,
  createErrorHandler,
  type ErrorFormat,
  translateError,
} from '@platform/service-kit';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type Provider from 'oidc-provider';
import type { RecordStep } from '../attempts/feature.js';
import { adaptAuthorizationRequest, assertParameterLimits } from './authorization-request.js';
import { OAuthError } from '../../credentials/service-credentials/oauth-errors.js';
import { isForBrowser } from '../../sign-in/page-kit/error-page.js';
import { sendPage } from '../../sign-in/page-kit/page.js';
import { connectionErrorPage } from './error-page.js';
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

/** Renders what is refused before a request reaches the provider, as the provider itself does (RFC 6749 §5.2, RFC 7591 §3.2.2). */
const oauthErrors: ErrorFormat = {
  schema: OAuthError,
  render: ({ status, message }) => ({
    error:
      status === 429 || status === 503
        ? 'temporarily_unavailable'
        : status >= 500
          ? 'server_error'
          : 'invalid_request',
    error_description: message,
  }),
};

/** Creates the handler of what is refused before the provider: as a page at the one endpoint that browsers open. */
function createOauthErrorHandler() {
  const sendJson = createErrorHandler(oauthErrors);
  return (thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    const isOpened = request.url.split('?', 1)[0]?.endsWith('/authorize');
    if (!isOpened || !isForBrowser(request.method, request.headers.accept)) {
      sendJson(thrown, request, reply);
      return;
    }
    const { statusCode: status, message, headers = {} } = translateError(thrown);
    const { error } = oauthErrors.render({ status, message, code: '' }) as { error: string };
    void sendPage(reply.headers(headers), connectionErrorPage(error, message, request.id), { status });
  };
}

/**
 * Where the endpoints are: below the issuer, as the metadata says, and at the root, where clients look that know no metadata
 * or have forgotten it (authorization of the Model Context Protocol of 2025-03-26, "Fallbacks for Servers without Metadata
 * Discovery").
 */
const BASES = [ISSUER_PATH, ''] as const;
const withoutPrefix = (url: string): string =>
  url.startsWith(`${ISSUER_PATH}/`) ? url.slice(ISSUER_PATH.length) : url;

function rejectOtherMethods(scope: App, url: string, allow: string): void {
  const allowed = new Set(['HEAD', ...allow.split(', ')]);
  scope.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => !allowed.has(method)),
    url,
    schema,
    handler: () => {
      throw new AppError({
        status: 405,
        code: 'METHOD_NOT_ALLOWED',
        message: 'Method not allowed',
        headers: { allow },
      });
    },
  });
}

/**
 * Open to everyone: the endpoints of the authorization server. Bodies are left to the provider.
 *
 * @param limits.count - counts a request of an address. It throws AppError 429.
 * @param limits.countRegistration - counts a registration; undefined where clients cannot register themselves.
 */
export function oauthRoutes(
  app: App,
  mount: Mount,
  limits: {
    readonly count: (address: string) => void;
    readonly countRegistration: CountRegistration | undefined;
    readonly recordStep: RecordStep;
  },
): void {
  const { count, countRegistration, recordStep } = limits;
  const limit = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    count(request.ip);
    done();
  };
  const limitParameters = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    assertParameterLimits(request.raw.url ?? '');
    done();
  };
  const recordOpened = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    const { client_id: clientId } = request.query as { readonly client_id?: unknown };
    recordStep(request, { step: 'authorize', ...(typeof clientId === 'string' && { clientId }) });
    done();
  };
  app.register((scope: App, _options, done) => {
    scope.setErrorHandler(createOauthErrorHandler());
    const pass = { schema, handler, onRequest: [limit, mount(withoutPrefix)] };
    for (const base of BASES) {
      scope.route({
        method: 'GET',
        url: `${base}/authorize`,
        schema,
        handler,
        onRequest: [
          limit,
          limitParameters,
          recordOpened,
          mount((url) => adaptAuthorizationRequest(withoutPrefix(url))),
        ],
      });
      scope.route({ method: ['POST', 'OPTIONS'], url: `${base}/token`, ...pass });
      rejectOtherMethods(scope, `${base}/authorize`, 'GET');
      rejectOtherMethods(scope, `${base}/token`, 'POST, OPTIONS');
      if (countRegistration) registrationRoutes(scope, `${base}/register`, mount, countRegistration);
    }
    scope.route({ method: 'GET', url: `${ISSUER_PATH}/authorize/:uid`, ...pass });
    scope.route({ method: ['POST', 'OPTIONS'], url: `${ISSUER_PATH}/revoke`, ...pass });
    rejectOtherMethods(scope, `${ISSUER_PATH}/revoke`, 'POST, OPTIONS');
    done();
  });
}

/** Dynamic client registration (RFC 7591). */
function registrationRoutes(scope: App, url: string, mount: Mount, count: CountRegistration): void {
  const cors = {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'content-type',
  };
  const register = mount(withoutPrefix);
  scope.route({
    method: 'OPTIONS',
    url,
    schema,
    handler: (_request, reply) => reply.code(204).headers(cors).send(),
  });
  scope.route({
    method: 'POST',
    url,
    schema,
    handler,
    async onRequest(request, reply) {
      void reply.headers(cors);
      await count(request.ip);
      register(request, reply);
    },
  });
  rejectOtherMethods(scope, url, 'POST, OPTIONS');
}

/** The metadata of the authorization server (RFC 8414 §3.1): at the root, in the form with the issuer's path, and below it. */
export function oauthMetadataRoutes(app: App, mount: Mount, recordStep: RecordStep): void {
  const document = '/.well-known/oauth-authorization-server';
  const record = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    recordStep(request, { step: 'metadata' });
    done();
  };
  const onRequest = [record, mount(() => document)];
  for (const url of [document, document + ISSUER_PATH, ISSUER_PATH + document])
    app.route({ method: ['GET', 'OPTIONS'], url, schema, handler, onRequest });
}
