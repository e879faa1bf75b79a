import { type AppError, type Clock, createIdAt } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Type } from 'typebox';
import { readBearer } from './bearer.js';
import type { SignedCredential } from './credential.js';
import { readDpopToken } from './dpop.js';
import { hasScope, type Principal } from './principal.js';

/*
 * Requests that a service refused to a token or a session, for the log that its owner and the administrators read. It is kept in memory until a
 * batch is written, so a refusal costs its request no statement.
 */

/** Why a credential was refused. */
export const refusalReasons = [
  /** It lacks scopes that it could have been given. */
  'scope',
  /** Its owner is not an administrator, or lacks a scope for that reason. */
  'role',
  /** It is limited to other servers, tools or connectors. */
  'bounds',
  /** The request needs a session. */
  'session',
  /** The request needs a token rather than a session. */
  'token',
  /** The request is for members, and this is a service account. */
  'member',
  /** The connection is narrowed to other tools by its headers. */
  'filter',
  /** There is no such tool, or none that it may know of. */
  'unknown_tool',
  /** Its owner has to sign in at a mounted server first. */
  'sign_in',
  /** It was used too often. */
  'rate_limit',
  /** It had expired. */
  'expired',
  /** It was revoked, its owner was removed, or it may not be used from the address. */
  'inactive',
  /** The request is for others, for another reason. */
  'forbidden',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

const MAX_OPERATION_LENGTH = 200;
const MAX_CLIENT_LENGTH = 100;
const MAX_SCOPES = 20;

/** The credentials of members and service accounts. */
const recordedKinds = ['pat', 'oauth', 'session'] as const;
const isRecorded = (kind: string): kind is (typeof recordedKinds)[number] =>
  (recordedKinds as readonly string[]).includes(kind);

/** A refused request in the form in which the other services report it to identity. */
export const RefusedRequest = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    at: Type.Integer({ minimum: 0, description: 'Milliseconds since the epoch.' }),
    orgId: Type.String({ format: 'uuid' }),
    userId: Type.String({ format: 'uuid' }),
    credentialKind: Type.Enum([...recordedKinds]),
    credentialId: Type.String({ format: 'uuid' }),
    clientId: Type.Union([Type.String({ maxLength: 2_048 }), Type.Null()]),
    operation: Type.String({ maxLength: MAX_OPERATION_LENGTH, description: 'The method and the route.' }),
    reason: Type.String({ maxLength: 20 }),
    lacks: Type.Array(Type.String({ maxLength: 40 }), { maxItems: MAX_SCOPES }),
    durationMs: Type.Integer({ minimum: 0 }),
    requestId: Type.String({ maxLength: 200 }),
    address: Type.String({ maxLength: 64 }),
    client: Type.Union([Type.String({ maxLength: MAX_CLIENT_LENGTH }), Type.Null()]),
  },
  { additionalProperties: false },
);
export type RefusedRequest = Type.Static<typeof RefusedRequest>;

/** Where the other services report refused requests. The gateways do not route it. */
export const REFUSALS_PATH = '/api/v1/internal/refusals';
export const MAX_REFUSALS = 100;

/** The same refusal of a credential is recorded once in this time: a client that tries again and again fills no table. */
const REPEATED_AFTER_MS = 60_000;
const MAX_REMEMBERED = 20_000;

const reasonsByCode: Readonly<Record<string, RefusalReason>> = {
  INSUFFICIENT_SCOPE: 'scope',
  ADMIN_REQUIRED: 'role',
  OUT_OF_BOUNDS: 'bounds',
  SESSION_REQUIRED: 'session',
  MEMBER_REQUIRED: 'member',
  RATE_LIMITED: 'rate_limit',
};

/** Returns why the error refuses a credential; undefined when it doesn't. */
export function toRefusalReason({
  statusCode,
  code,
}: Pick<AppError, 'statusCode' | 'code'>): RefusalReason | undefined {
  // It asks for the password, and the browser sends the request again.
  if (code === 'CONFIRMATION_REQUIRED') return undefined;
  const known = reasonsByCode[code];
  if (known) return known;
  if (statusCode === 401) return 'inactive';
  return statusCode === 403 ? 'forbidden' : undefined;
}

const challengedScopes = /\bscope="([^"]*)"/;

/** Returns the scopes that a challenge names and the credential cannot use. */
function findLackedScopes(error: AppError, principal: Principal): readonly string[] {
  const [, scopes = ''] = challengedScopes.exec(error.headers?.['www-authenticate'] ?? '') ?? [];
  return scopes
    .split(' ')
    .filter((scope) => scope !== '' && !hasScope(principal, scope))
    .slice(0, MAX_SCOPES);
}

/** Control characters, of which PostgreSQL's text type cannot store NUL. */
const unprintable = /\p{Cc}+/gu;
const clean = (text: string, length: number): string =>
  text.slice(0, length).toWellFormed().replaceAll(unprintable, ' ').trim();

/** Returns whose credential the request presented, also when it is not active any more. */
function findHolder(
  { principal, raw }: FastifyRequest,
  checkSignature: (presented: string) => SignedCredential | undefined,
) {
  if (principal) {
    if (!isRecorded(principal.kind) || !('orgId' in principal)) return undefined;
    const { orgId, userId, kind, credentialId, clientId = null, expiresAt } = principal;
    return { orgId, userId, kind, credentialId, clientId, expiresAt };
  }
  const presented = readBearer(raw) ?? readDpopToken(raw);
  const { claims } = (presented !== undefined && checkSignature(presented)) || {};
  if (!claims || !isRecorded(claims.kind) || claims.org === undefined) return undefined;
  const { org: orgId, sub: userId, kind, jti: credentialId, client_id: clientId = null, exp } = claims;
  return { orgId, userId, kind, credentialId, clientId, expiresAt: exp === undefined ? null : exp * 1_000 };
}

export type RecordRefusal = (refusal: RefusedRequest) => void;

/**
 * Creates what is called with each error that a request was answered with. It records the refusals, and never throws.
 */
export function createRefusalObserver(deps: {
  readonly checkSignature: (presented: string) => SignedCredential | undefined;
  readonly record: RecordRefusal;
  readonly clock: Clock;
}) {
  const { checkSignature, record, clock } = deps;
  const recent = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: REPEATED_AFTER_MS });

  function observe(error: AppError, request: FastifyRequest): void {
    const given = toRefusalReason(error);
    const holder = given && findHolder(request, checkSignature);
    const { routeOptions, method, principal } = request;
    if (!holder || routeOptions.url === undefined) return;
    const at = clock();
    const isExpired = given === 'inactive' && holder.expiresAt !== null && holder.expiresAt <= at;
    // Access tokens of clients expire after minutes, and are refreshed then; sessions expire every day.
    if (isExpired && holder.kind !== 'pat') return;
    const lacks = given === 'scope' && principal ? findLackedScopes(error, principal) : [];
    // What the credential was granted, and cannot use, is a matter of its owner's role.
    const isOfRole = lacks.length > 0 && lacks.every((scope) => principal?.grantedScopes.has(scope));
    const reason: RefusalReason = isExpired ? 'expired' : isOfRole ? 'role' : given;
    const operation = `${method} ${routeOptions.url}`.slice(0, MAX_OPERATION_LENGTH);
    const key = [holder.credentialId, operation, reason, ...lacks].join(' ');
    if (recent.has(key)) return;
    recent.set(key, true);
    record({
      id: createIdAt(at),
      at,
      orgId: holder.orgId,
      userId: holder.userId,
      credentialKind: holder.kind,
      credentialId: holder.credentialId,
      clientId: holder.clientId,
      operation,
      reason,
      lacks: [...lacks],
      durationMs: 0,
      requestId: clean(request.id, 200),
      address: request.ip.slice(0, 64),
      client: clean(request.headers['user-agent'] ?? '', MAX_CLIENT_LENGTH) || null,
    });
  }

  return (error: AppError, request: FastifyRequest): void => {
    try {
      observe(error, request);
    } catch {
      // The request was refused, which is what matters.
    }
  };
}
