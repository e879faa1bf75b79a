import type { CreatedToken, IdentityUnderTest } from '../../identity.js';

export const base = '/api/v1/service-accounts';

interface Site {
  readonly identity: IdentityUnderTest;
  /** The administrator's session. */
  readonly session: string;
  close(): Promise<unknown>;
}

/** Gives the tests of a file a site, and what they do with service accounts there. */
export function useAccounts<S extends Site>(start: () => Promise<S>) {
  let site: S;
  beforeAll(async () => {
    site = await start();
  });
  afterAll(() => site.close());

  const requestToken = (accountId: string, fields: object = {}, token = site.session) =>
    site.identity.call('POST', `${base}/${accountId}/tokens`, {
      token,
      body: { name: 'backup', scopes: ['user:read', 'crawl:read'], ...fields },
    });

  return {
    get site() {
      return site;
    },
    get identity() {
      return site.identity;
    },
    get session() {
      return site.session;
    },
    async createAccount(role = 'admin', token = site.session): Promise<string> {
      const body = { name: 'Nightly backup', role };
      const answer = await site.identity.call('POST', base, { token, body });
      expect(answer.status).toBe(201);
      return answer.body.serviceAccount.id as string;
    },
    requestToken,
    async createToken(accountId: string, fields: object = {}): Promise<CreatedToken> {
      const { status, text, body } = await requestToken(accountId, fields);
      if (status !== 201) throw new Error(`create token answered ${status}: ${text}`);
      return body.token as CreatedToken;
    },
    /** Returns the status of a request that needs `user:read`. */
    listUsers: async (token: string, headers: Record<string, string> = {}): Promise<number> =>
      (await site.identity.call('GET', '/api/v1/users', { token, headers })).status,
    listTokensOfOrganisation: async () =>
      (
        await site.identity.call('GET', '/api/v1/personal-access-tokens/admin?limit=100', {
          token: site.session,
        })
      ).body.data as { id: string }[],
    /** Returns the audit entries about an account or a token, oldest first. */
    findEntries: async (subjectId: string) =>
      (
        await site.identity.db.query<{ action: string }>(
          'select action, actor_id, credential_kind from audit_entries where subject_id = $1 order by id',
          [subjectId],
        )
      ).rows,
  };
}
