import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses, Message } from '@platform/service-kit';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import type { Domains } from './domains.js';
import {
  AddDomainBody,
  DomainPath,
  DomainResponse,
  IdentityProviderResponse,
  ProviderTest,
  RemovedIdentityProvider,
  SavedIdentityProvider,
  SaveIdentityProviderBody,
} from './schemas.js';
import type { ProviderSettings } from './settings.js';
import { inAnySession } from '../../base/confirmation.js';

const path = '/api/v1/organisation/identity-provider';
const tags = ['Configuration'];

/** For administrators, with a session. Whoever chooses the provider decides who can sign in. */
export function providerRoutes(app: App, settings: ProviderSettings): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    path,
    {
      onRequest,
      schema: {
        operationId: 'getIdentityProvider',
        tags,
        summary: "The organisation's identity provider, without the client secret, and its domains",
        response: { 200: IdentityProviderResponse, ...errorResponses(401, 403) },
      },
    },
    (request) => settings.get(getMember(request).orgId),
  );
  app.put(
    path,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'saveIdentityProvider',
        tags,
        summary: 'Set the OpenID Connect provider with which members sign in',
        body: SaveIdentityProviderBody,
        response: { 200: SavedIdentityProvider, ...errorResponses(400, 401, 403, 409) },
      },
    },
    async (request) => ({
      message: 'Identity provider saved',
      ...(await settings.save(getCaller(request), request.body)),
    }),
  );
  app.delete(
    path,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'removeIdentityProvider',
        tags,
        summary: 'Remove the provider; the sessions that it opened end',
        response: { 200: RemovedIdentityProvider, ...errorResponses(401, 403, 404) },
      },
    },
    async (request) => ({
      message: 'Identity provider removed',
      endedCount: await settings.remove(getCaller(request)),
    }),
  );
  app.post(
    `${path}/test`,
    {
      onRequest,
      schema: {
        operationId: 'testIdentityProvider',
        tags,
        summary: 'Whether the provider can be reached, and what is wrong if not',
        response: { 200: ProviderTest, ...errorResponses(401, 403, 404) },
      },
    },
    (request) => settings.test(getMember(request).orgId),
  );
}

/** For administrators, with a session. */
export function domainRoutes(app: App, domains: Domains): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.post(
    `${path}/domains`,
    {
      onRequest,
      schema: {
        operationId: 'addIdentityDomain',
        tags,
        summary: 'Add a domain of e-mail addresses, to be verified',
        body: AddDomainBody,
        response: { 200: DomainResponse, ...errorResponses(400, 401, 403, 409) },
      },
    },
    async (request) => ({ domain: await domains.add(getCaller(request), request.body.domain) }),
  );
  app.post(
    `${path}/domains/:domain/verify`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'verifyIdentityDomain',
        tags,
        summary: 'Look for the DNS record that proves the control of the domain',
        params: DomainPath,
        response: { 200: DomainResponse, ...errorResponses(401, 403, 404, 409, 503) },
      },
    },
    async (request) => ({ domain: await domains.verify(getCaller(request), request.params.domain) }),
  );
  app.delete(
    `${path}/domains/:domain`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'removeIdentityDomain',
        tags,
        summary: 'Remove a domain; its members can no longer sign in with the provider',
        params: DomainPath,
        response: { 200: Message, ...errorResponses(401, 403, 404) },
      },
    },
    async (request) => {
      await domains.remove(getCaller(request), request.params.domain);
      return { message: 'Domain removed' };
    },
  );
}
