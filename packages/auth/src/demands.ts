import { addErrors, type AppError } from '@platform/service-kit';
import type { FastifySchema, preValidationHookHandler } from 'fastify';
import { canDelegateScope, scopeCatalogue, type ScopeDefinition } from './scopes.js';

/** What may present itself, in the names of OpenAPI's security schemes. */
type CredentialKind = 'session' | 'token' | 'oauth' | 'service';

/** What a guard demands of the caller: the documents are made from it, so that they cannot differ from what the guard does. */
export interface Demand {
  /** The kinds that pass; all kinds by default. */
  readonly kinds?: readonly CredentialKind[];
  /** What a token must have; sessions are not subject to scopes. */
  readonly scopes?: readonly string[];
  /** Who passes, such as `an administrator`. The last guard of a route says it. */
  readonly who?: string;
  /** What the guard refuses with. */
  readonly errors?: readonly AppError[];
  /** Whether it fails without a credential. */
  readonly isAuthentication?: boolean;
  /** Verifies the credential again, on routes whose body can arrive long after the guard has run. */
  readonly reverifyAfterBody?: preValidationHookHandler;
}

const demands = new WeakMap<object, Demand>();

/** Says what a hook demands. @returns the hook. */
export function withDemand<H extends object>(hook: H, demand: Demand): H {
  demands.set(hook, demand);
  return hook;
}

export const getDemand = (hook: object): Demand | undefined => demands.get(hook);

const DEFAULT_KINDS: readonly CredentialKind[] = ['session', 'token', 'oauth'];

/** The security schemes of the documents (OpenAPI 3.1 §4.8.27). */
export const securitySchemes = {
  session: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The session of a member, from `login`. Pages of the platform can send it in a cookie instead, with the header `x-csrf-token`. It is not subject to scopes.',
  },
  token: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A personal access token of a member or a service account. It needs the scopes that an operation lists.',
  },
  oauth: {
    type: 'oauth2',
    description: 'An access token of an application. It needs the scopes that an operation lists.',
    flows: {
      authorizationCode: {
        authorizationUrl: '/oauth2/authorize',
        tokenUrl: '/oauth2/token',
        refreshUrl: '/oauth2/token',
        scopes: toScopeList(),
      },
      clientCredentials: { tokenUrl: '/oauth2/token', scopes: toScopeList() },
    },
  },
  service: {
    type: 'http',
    scheme: 'bearer',
    description: 'A credential of another service of the platform.',
  },
} as const;

function toScopeList(): Readonly<Record<string, string>> {
  const scopes = scopeCatalogue.flatMap<ScopeDefinition>((group) => group.scopes);
  return Object.fromEntries(
    scopes
      .filter(({ name }) => canDelegateScope(name, 'admin'))
      .map(({ name, description }) => [name, description]),
  );
}

const listCodes = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(' and ');

function describeCredentials(kinds: readonly CredentialKind[], scopes: readonly string[]): string {
  if (kinds.includes('service')) return 'with its service credential';
  const hasSession = kinds.includes('session');
  if (hasSession && kinds.length === 1) return 'with a session';
  const token = kinds.includes('oauth') ? 'token' : 'personal access token';
  const needed = scopes.length > 0 ? `a ${token} that has ${listCodes(scopes)}` : `a ${token}`;
  return hasSession ? `with a session, or with ${needed}` : `with ${needed}, not with a session`;
}

const describeWho = (kinds: readonly CredentialKind[]): string =>
  kinds.includes('service') ? 'another service of the platform'
  : kinds.includes('token') ? 'a member or a service account'
  : 'a member'; // oxfmt-ignore

/** Documents who may call a route, by what its hooks demand together, and what they refuse with. @returns the schema with that. */
export function documentDemands(schema: FastifySchema, hooks: readonly object[]): FastifySchema {
  const own = hooks.flatMap((hook) => demands.get(hook) ?? []);
  const kinds = own.reduce<readonly CredentialKind[]>(
    (left, demand) =>
      demand.kinds ? [...demand.kinds].filter((kind) => left.includes(kind) || kind === 'service') : left,
    DEFAULT_KINDS,
  );
  const scopes = own.flatMap((demand) => demand.scopes ?? []);
  const isDelegable = scopes.every((scope) => canDelegateScope(scope, 'admin'));
  const accepted = kinds.filter((kind) => kind !== 'oauth' || isDelegable);
  const security = schema.security ?? accepted.map((kind) => ({ [kind]: kind === 'session' ? [] : scopes }));
  const who = own.findLast((demand) => demand.who !== undefined)?.who ?? describeWho(accepted);
  return addErrors(
    addDescription({ ...schema, security }, `Callers: ${who}, ${describeCredentials(accepted, scopes)}.`),
    own.flatMap((demand) => demand.errors ?? []),
  );
}

/** Documents that a route needs no credential of the platform. @returns the schema with that. */
export function documentPublic(schema: FastifySchema, hooks: readonly object[]): FastifySchema {
  const who = hooks.map((hook) => demands.get(hook)?.who).find((one) => one !== undefined);
  const anybody = schema.security ? 'anybody; a credential shows more' : 'anybody, without a credential';
  return addDescription(schema, `Callers: ${who ?? anybody}.`);
}

const addDescription = (schema: FastifySchema, text: string): FastifySchema => ({
  ...schema,
  description: [schema.description, text].filter(Boolean).join('\n\n'),
});
