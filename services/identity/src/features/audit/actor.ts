import { getMember, type UserPrincipal } from '@platform/auth';
import type { FastifyRequest } from 'fastify';
import { type ClientAddress, getClient } from '../known-devices/client.js';

/** A member, and where the request came from. */
export interface Caller extends UserPrincipal {
  readonly client: ClientAddress;
}

/** The member behind the request. @throws AppError 403 for a service. */
export const getCaller = (request: FastifyRequest): Caller => ({
  ...getMember(request),
  client: getClient(request),
});

/** A token or a session, by its id. */
export interface ActingCredential {
  readonly kind: string;
  readonly id: string;
}

/** Who did something, with which credential, and from where: so that what a stolen token did can be found. */
export interface Actor {
  /** Null for the platform, and for who is not known. */
  readonly actorId: string | null;
  /** Null where none was needed: a password, a code or a link proved who it is. */
  readonly credential: ActingCredential | null;
  readonly client: ClientAddress | null;
}

export const toActor = ({ userId, kind, credentialId, client }: Caller): Actor => ({
  actorId: userId,
  credential: { kind, id: credentialId },
  client,
});

/** A job or a command of an operator. */
export const platformActor: Actor = { actorId: null, credential: null, client: null };

const MAX_USER_AGENT_LENGTH = 512;

/** As it is stored: what a client says of itself can be of any length. */
export const getUserAgent = (client: ClientAddress | null): string | null =>
  client?.userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null;
