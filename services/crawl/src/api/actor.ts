import { getAccount } from '@platform/auth';
import { MAX_AUDITED_AGENT_LENGTH } from '@platform/events';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../domain/act.js';

/** Returns the account that sent the request, for the audit. @throws AppError 403 when a service sent it. */
export function getActor(request: FastifyRequest): Actor {
  const { userId, kind, credentialId } = getAccount(request);
  return {
    actorId: userId,
    credential: { kind, id: credentialId },
    address: request.ip,
    userAgent: request.headers['user-agent']?.slice(0, MAX_AUDITED_AGENT_LENGTH) ?? null,
    requestId: request.id,
  };
}
