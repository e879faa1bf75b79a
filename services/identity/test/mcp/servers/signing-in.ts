import { createHttpBrowser } from '../../browser.js';
import type { IdentityUnderTest } from '../../identity.js';
import { createAgent, createMounts } from './platform.js';

/** What signs people in at an authorization server, as their browsers would. */
interface Authorization {
  /** Signs in as this person from now on. */
  become(subject: string): void;
  /** Goes through the pages of the authorization server. @returns the address that the browser is sent back to. */
  authorize(url: string): Promise<URL>;
}

/** People who sign in at mounted servers, each in a browser of their own. */
export function createPeople(identity: IdentityUnderTest, session: string) {
  /** A member in a browser, who is known at the server under another name. */
  async function createPerson(subject: string, role: 'admin' | 'member' = 'member') {
    const member = await identity.createMember(session, role);
    const browser = createHttpBrowser(identity.url);
    await browser.signIn(member);
    return { ...member, subject, browser, agent: createAgent(identity, member.session) };
  }
  type Person = Awaited<ReturnType<typeof createPerson>>;

  async function begin({ browser }: Pick<Person, 'browser'>, id: string): Promise<string> {
    const { status, body, text } = await browser.call(
      'POST',
      `/api/v1/mcp-servers/${id}/my-credential/sign-in`,
    );
    if (status !== 200) throw new Error(`begin answered ${status}: ${text}`);
    return body.url as string;
  }

  /** Comes back from the authorization server. @returns where the browser is led. */
  async function comeBack({ browser }: Pick<Person, 'browser'>, { pathname, search }: URL) {
    const { headers } = await browser.open(pathname + search, { 'sec-fetch-site': 'cross-site' });
    return headers.get('location');
  }

  async function signIn(person: Person, id: string, { become, authorize }: Authorization) {
    become(person.subject);
    return comeBack(person, await authorize(await begin(person, id)));
  }

  return {
    createPerson,
    begin,
    comeBack,
    signIn,
    /** Mounts a server, and has an administrator sign in, who lists and approves its tools. */
    async mount(
      url: string,
      authorization: Authorization,
      {
        approve,
        ...fields
      }: { readonly approve?: Record<string, string>; readonly [field: string]: unknown } = {},
    ): Promise<string> {
      const mounts = createMounts(identity, session);
      const id = await mounts.mount(url, { credential: { kind: 'oauth', ...fields } });
      const admin = await createPerson('the-administrator', 'admin');
      const outcome = await signIn(admin, id, authorization);
      if (outcome !== `/account/services/${id}?signIn=connected`) throw new Error(`led to ${outcome}`);
      const refreshed = await identity.call('POST', `/api/v1/mcp-servers/${id}/refresh`, {
        token: admin.session,
      });
      if (refreshed.status !== 200) throw new Error(refreshed.text);
      await mounts.approveAll(id, approve ?? { search: 'kb:read' });
      return id;
    },
  };
}
