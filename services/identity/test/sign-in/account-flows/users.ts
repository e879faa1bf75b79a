import type { IdentityUnderTest } from '../../identity.js';

export const password = 'correct-horse-battery';

let count = 0;

/** Creates members with the administrator's session, each with a new address: by default with a password, not invited. */
export const createUsers =
  (identity: IdentityUnderTest, session: string) =>
  async (fields: object = { password }): Promise<{ id: string; email: string }> => {
    const email = `person-${++count}@example.com`;
    const { status, text, body } = await identity.call('POST', '/api/v1/users', {
      token: session,
      body: { email, fullName: 'Ada Example', ...fields },
    });
    if (status !== 201) throw new Error(`create user answered ${status}: ${text}`);
    return body.user as { id: string; email: string };
  };
