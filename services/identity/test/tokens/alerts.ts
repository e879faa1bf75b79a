import { waitFor } from '@platform/testing';
import { type Platform, startPlatform } from '../sign-in/account-flows/platform.js';
import type { CreatedToken, Member } from '../identity.js';

export const path = '/api/v1/personal-access-tokens';

/** The platform with a member whose tokens cause alerts. */
export async function startAlerts() {
  const platform: Platform = await startPlatform();
  const member: Member = await platform.identity.createMember(platform.session);
  const findEntries = async (action: string, { id }: CreatedToken) =>
    (
      await platform.identity.db.query(
        'select address, detail, actor_id from audit_entries where action = $1 and subject_id = $2 order by id',
        [action, id],
      )
    ).rows;
  return {
    platform,
    member,
    make: (name: string, token = member.session) =>
      platform.identity.createToken(token, { name, scopes: ['user:read', 'pat:write', 'pat:read'] }),
    getStatus: async ({ accessToken: token }: CreatedToken, headers = {}) =>
      (
        await platform.identity.call('GET', '/api/v1/users/me', {
          token,
          headers,
        })
      ).status,
    rotate: async ({ id }: CreatedToken, token = member.session, graceSeconds = 0): Promise<CreatedToken> =>
      (
        await platform.identity.call('POST', `${path}/${id}/rotate`, {
          token,
          body: { graceSeconds },
        })
      ).body.token,
    findEntries,
    waitForEntry: (action: string, token: CreatedToken) =>
      waitFor(async () => (await findEntries(action, token)).length > 0, {
        what: action,
      }),
    /** Returns the alerts about a token, but for those about new and rotated tokens. */
    mailsAbout: (email: string, name: string) =>
      platform
        .mailsTo(email)
        .filter(
          ({ subject = '', text }) =>
            !/access tokens? (was|were) (created|rotated)$/.test(subject) && text?.includes(`“${name}”`),
        ),
  };
}
export type Alerts = Awaited<ReturnType<typeof startAlerts>>;
