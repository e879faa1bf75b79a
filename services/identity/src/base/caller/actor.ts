import { type AccountPrincipal, getAccount, getMember, type UserPrincipal } from '@platform/auth';
import type { FastifyRequest } from 'fastify';
import { type ClientAddress, getClient } from './client.js';

/** The authenticated member together with the client that sent the request. */
export interface Caller extends UserPrincipal {
  readonly client: ClientAddress;
}

/** Returns the member who sent the request. @throws AppError 403 when a service sent it. */
export const getCaller = (request: FastifyRequest): Caller => toCaller(getMember(request), request);

/** An authenticated member or service account together with the client that sent the request. */
export type AccountCaller = AccountPrincipal & {
  readonly client: ClientAddress;
};

/** Returns the account that sent the request. @throws AppError 403 when a service sent it. */
export const getAccountCaller = (request: FastifyRequest): AccountCaller => ({
  ...getAccount(request),
  client: getClient(request),
});

/** Combines a member, such as one whom a page found by the cookie, with the client that sent the request. */
export const toCaller = (member: UserPrincipal, request: FastifyRequest): Caller => ({
  ...member,
  client: getClient(request),
});

/** Identifies the token or session that an action was done with. */
export interface ActingCredential {
  readonly kind: string;
  readonly id: string;
}

/**
 * The originator of an action, with their credential and address, so that the actions of a stolen token can be found.
 */
export interface Actor {
  /** Null when the platform acted, or when the actor is unknown. */
  readonly actorId: string | null;
  /** Null when a password, code or link authenticated the actor. */
  readonly credential: ActingCredential | null;
  readonly client: ClientAddress | null;
}

export const toActor = ({ userId, kind, credentialId, client }: Caller): Actor => ({
  actorId: userId,
  credential: { kind, id: credentialId },
  client,
});

/** The actor of background jobs and of operators' commands. */
export const platformActor: Actor = { actorId: null, credential: null, client: null };
