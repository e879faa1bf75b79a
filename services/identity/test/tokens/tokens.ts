import type { Answer } from '@platform/testing';
import type { CreatedToken, IdentityUnderTest } from '../identity.js';
import { waitForLockWaiters } from '../lock-waiters.js';

export const TOKENS = '/api/v1/personal-access-tokens';
export const SCOPES = ['pat:write', 'pat:read', 'user:read'];
export const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';

/** Calls about tokens, by the session unless another credential is given. */
export function createTokens(
  identity: IdentityUnderTest,
  session: string,
  headers: Record<string, string> = {},
) {
  const call = (method: string, path: string, body?: object, by = session): Promise<Answer> =>
    identity.call(method, TOKENS + path, { token: by, headers, ...(body && { body }) });
  const toCreated = ({ status, text, body }: Answer): CreatedToken => {
    if (status !== 201) throw new Error(`answered ${status}: ${text}`);
    return body.token as CreatedToken;
  };
  const create = (fields: object = {}, by?: string) =>
    call('POST', '', { name: 'test', scopes: SCOPES, ...fields }, by);
  /** Ends the old token at once unless the body says otherwise. */
  const rotate = (id: string, body: object = {}, by?: string) =>
    call('POST', `/${id}/rotate`, { graceSeconds: 0, ...body }, by);
  /** Returns the status of a request that needs `user:read`. */
  const getStatus = async ({ accessToken: token }: CreatedToken): Promise<number> =>
    (await identity.call('GET', '/api/v1/users/me', { token, headers })).status;
  return {
    call,
    create,
    rotate,
    getStatus,
    make: async (by?: string, fields?: object) => toCreated(await create(fields, by)),
    rotated: async (id: string, body?: object, by?: string) => toCreated(await rotate(id, body, by)),
    revoke: (id: string, body: object = {}, by?: string) => call('DELETE', `/${id}`, body, by),
    get: async (id: string) => (await call('GET', `/${id}`)).body.token as Record<string, unknown>,
    statuses: (...tokens: CreatedToken[]) => Promise.all(tokens.map(getStatus)),
    findEntries: async (action: string, { id }: { readonly id: string }) =>
      (
        await identity.db.query(
          `select actor_id, credential_kind, address, reason, changes, detail from audit_entries
           where action = $1 and subject_id = $2 order by id`,
          [action, id],
        )
      ).rows,
  };
}
export type Tokens = ReturnType<typeof createTokens>;

export const toOutcome = ({ status, body }: Answer) => [status, body.error?.code];

/** Locks the owner of a token as a revocation does. @returns the end of the lock. */
export async function lockOwner(
  { db }: IdentityUnderTest,
  { id }: CreatedToken,
): Promise<() => Promise<void>> {
  const client = await db.connect();
  await client.query('begin');
  await client.query(
    `select from users where id = (select owner_id from personal_access_tokens where id = $1) for no key update`,
    [id],
  );
  return async () => {
    await client.query('commit');
    client.release();
  };
}

/** Starts requests about the tokens of an owner while the owner is locked, so that each waits behind the one before it. */
export async function queueBehindOwner(
  identity: IdentityUnderTest,
  token: CreatedToken,
  requests: readonly (() => Promise<Answer>)[],
): Promise<Answer[]> {
  const release = await lockOwner(identity, token);
  const answers: Promise<Answer>[] = [];
  try {
    for (const request of requests) {
      answers.push(request());
      await waitForLockWaiters(identity.db, answers.length);
    }
  } finally {
    await release();
  }
  return Promise.all(answers);
}
