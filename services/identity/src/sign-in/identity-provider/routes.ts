import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses, Message } from '@platform/service-kit';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import type { IdentityProviderContext } from './context.js';
import { addDomain, removeDomain, verifyDomain } from './domains.js';
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
import { getProviderSettings, removeProvider, saveProviderSettings, testProvider } from './settings.js';
import { inAnySession } from '../../base/confirmation.js';
import {
  dnsUnavailable,
  domainTaken,
  noAdministratorLeft,
  recordNotFound,
  tooManyDomains,
  verifiedDomainRequired,
} from './errors.js';

const path = '/api/v1/organisation/identity-provider';
const tags = ['Configuration'];

/** For administrators, with a session. Whoever chooses the provider decides who can sign in. */
export function providerRoutes(app: App, ctx: IdentityProviderContext): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    path,
    {
      onRequest,
      schema: {
        operationId: 'getIdentityProvider',
        tags,
        summary: "The organisation's identity provider, without the client secret, and its domains",
        description:
          '`identityProvider` is null where none is configured. The client secret is never returned, only whether there is one.',
        response: { 200: IdentityProviderResponse, ...errorResponses(401, 403) },
      },
    },
    (request) => getProviderSettings(ctx, getMember(request).orgId),
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
        description:
          'Replaces the configuration as a whole. A client secret that is left out is kept, but only for the same issuer and client. Members can be required to sign in with the provider only after a domain was verified.',
        body: SaveIdentityProviderBody,
        response: {
          200: SavedIdentityProvider,
          ...errorResponses(400, 401, 403, 409, verifiedDomainRequired(), noAdministratorLeft()),
        },
      },
    },
    async (request) => ({
      message: 'Identity provider saved',
      ...(await saveProviderSettings(ctx, getCaller(request), request.body)),
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
        description:
          'Members are disconnected from the provider, and sign in with a password or a code again. Groups that the provider has stated end.',
        response: { 200: RemovedIdentityProvider, ...errorResponses(401, 403, 404) },
      },
    },
    async (request) => ({
      message: 'Identity provider removed',
      endedCount: await removeProvider(ctx, getCaller(request)),
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
        description: 'Reads the metadata and the keys of the provider, and changes nothing.',
        response: { 200: ProviderTest, ...errorResponses(401, 403, 404) },
      },
    },
    (request) => testProvider(ctx, getMember(request).orgId),
  );
}

/** For administrators, with a session. */
export function domainRoutes(app: App, ctx: IdentityProviderContext): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.post(
    `${path}/domains`,
    {
      onRequest,
      schema: {
        operationId: 'addIdentityDomain',
        tags,
        summary: 'Add a domain of e-mail addresses, to be verified',
        description:
          'Returns the DNS record that proves the control of the domain. Until `verifyIdentityDomain` has found it, nobody signs in by the domain.',
        body: AddDomainBody,
        response: { 200: DomainResponse, ...errorResponses(400, 401, 403, 409, tooManyDomains(100)) },
      },
    },
    async (request) => ({ domain: await addDomain(ctx, getCaller(request), request.body.domain) }),
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
        description:
          'Asks the name servers of the domain. It can be repeated until the record is found; a domain belongs to one organisation.',
        params: DomainPath,
        response: {
          200: DomainResponse,
          ...errorResponses(
            401,
            403,
            404,
            409,
            503,
            recordNotFound('_platform.example.com'),
            domainTaken(),
            dnsUnavailable(undefined),
          ),
        },
      },
    },
    async (request) => ({ domain: await verifyDomain(ctx, getCaller(request), request.params.domain) }),
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
        description: 'The accounts stay, with their passwords and codes.',
        params: DomainPath,
        response: { 200: Message, ...errorResponses(401, 403, 404) },
      },
    },
    async (request) => {
      await removeDomain(ctx, getCaller(request), request.params.domain);
      return { message: 'Domain removed' };
    },
  );
}
