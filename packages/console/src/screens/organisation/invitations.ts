import { identity, unwrap } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';

export const repeatInvitation = (id: string) =>
  unwrap(identity.POST('/api/v1/users/{id}/invitation', { params: { path: { id } } }));

/** Tells whether invitations can be mailed at all. */
export async function hasSmtpServer(): Promise<boolean> {
  try {
    await identity.GET('/api/v1/configurationManager/smtpConfig');
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return false;
    throw error;
  }
}
