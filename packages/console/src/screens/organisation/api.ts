import type { IdentitySchemas } from '@platform/clients/types';
import { queryOptions } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';

export type Member = IdentitySchemas['schemas']['Member'];
export type MemberDetails = IdentitySchemas['schemas']['MemberDetails'];

export const repeatInvitation = (id: string) =>
  unwrap(identity.POST('/api/v1/users/{id}/invitation', { params: { path: { id } } }));

/** Withdraws an invitation; whoever has joined meanwhile stays a member. @throws Problem 409 INVITATION_ACCEPTED. */
export const cancelInvitation = (id: string) =>
  unwrap(identity.DELETE('/api/v1/users/{id}', { params: { path: { id }, query: { state: 'invited' } } }));

export const removeMember = (id: string) =>
  unwrap(identity.DELETE('/api/v1/users/{id}', { params: { path: { id } } }));

/** Returns whether invitations can be mailed at all. */
export async function hasSmtpServer(): Promise<boolean> {
  try {
    await identity.GET('/api/v1/configurationManager/smtpConfig');
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return false;
    throw error;
  }
}

/** The open sessions of a member. */
export const memberSessionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['sessions', 'of', id],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/users/{id}/sessions', { params: { path: { id } }, signal })))
        .sessions,
  });
