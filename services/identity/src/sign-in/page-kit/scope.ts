import formbody from '@fastify/formbody';
import { type App, AppError, createServerErrorLog, translateError } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isForBrowser, toErrorPage } from './error-page.js';
import { html } from './html.js';
import { type Page, sendPage } from './page.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the name of an organisation; empty when there is no such organisation. */
    findOrganisationName(orgId: string): Promise<string>;
  }
  interface FastifyReply {
    /** The name of the organisation that the reader of the page belongs to, where that is known. */
    organisation: string | undefined;
  }
}

/** Browsers hold no cookie of this platform over plain HTTP, so that no form can be sent. */
const httpsRequiredPage: Page = {
  title: 'HTTPS is required',
  body: html`<p>This platform is reached over plain HTTP, so a browser could not keep your sign-in safe.</p>
    <p class="quiet">Ask its operator to set up HTTPS and to name the address in PUBLIC_URL.</p>`,
};

/** Creates the handler that shows an error as a page. */
function createErrorPages() {
  const logServerError = createServerErrorLog();
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = translateError(thrown);
    const { statusCode: status, message } = error;
    if (status >= 500)
      logServerError(request.log, { error: error.cause ?? error, message, isOutage: status === 503 });
    const retryAfter = error.headers?.['retry-after'];
    if (retryAfter !== undefined) void reply.header('retry-after', retryAfter);
    // A form is opened again: it may be its token that was refused.
    const target = request.method === 'GET' ? request.url : request.url.split('?', 1)[0];
    void sendPage(reply, toErrorPage(error, request.id, target), { status });
  };
}

/** Programs that call these paths read JSON, whatever they accept. */
const FOR_PROGRAMS = /^\/(?:api|mcp|\.well-known)(?:\/|\?|$)/;

/** Shows a browser at an address that leads nowhere, such as `/sign-in/nope`, a page. @returns false for a program. */
export function showNotFound(refusal: AppError, request: FastifyRequest, reply: FastifyReply): boolean {
  if (!isForBrowser(request.method, request.headers.accept) || FOR_PROGRAMS.test(request.url)) return false;
  const options = { status: refusal.statusCode };
  void sendPage(reply.headers(refusal.headers ?? {}), toErrorPage(refusal, request.id), options);
  return true;
}

/** PostgreSQL stores no NUL. JSON bodies are checked for it by the service kit. */
const hasNul = (body: unknown): boolean =>
  Object.values(body ?? {})
    .flat()
    .some((value) => typeof value === 'string' && value.includes('\0'));

/** Registers routes that answer with pages: they take the bodies of forms, and show errors as pages. */
export function registerPages(app: App, register: (scope: App) => void): void {
  app.register(async (scope: App) => {
    await scope.register(formbody);
    scope.setErrorHandler(createErrorPages());
    scope.addHook('preHandler', async (request, reply) => {
      const member = await app.findBrowserSession(request);
      reply.organisation = member && (await app.findOrganisationName(member.orgId));
    });
    scope.addHook('preValidation', ({ body }, _reply, done) => {
      if (!hasNul(body)) done();
      else
        done(
          new AppError({
            status: 400,
            code: 'VALIDATION_ERROR',
            message: 'The form has an invalid character',
          }),
        );
    });
    if (!app.sessionCookies.isAvailable)
      scope.addHook('onRequest', (request, reply, done) => {
        if (request.method === 'POST') done();
        else void sendPage(reply, httpsRequiredPage);
      });
    register(scope);
  });
}
