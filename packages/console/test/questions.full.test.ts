import { describeWith, type Page, waitFor } from '@platform/testing';
import { startWikiServer } from '../screenshots/wiki-server.mjs';
import { findBarriersInThemes, useConsole, waitForContent } from './console.js';
import type { Person } from './platform.js';

/* UI-55: what people ask of the console, each answered within three clicks from Home, on a desk and on a phone. */

const CRAWLS = '/api/v1/crawlingManager';
const SERVERS = '/api/v1/mcp-servers';
const TOKENS = '/api/v1/personal-access-tokens';
const MAX_CLICKS = 3;

/** Goes from Home to an answer, and counts the clicks. */
class Walk {
  clicks = 0;
  constructor(readonly page: Page) {}

  async click(role: 'link' | 'button', name: string | RegExp): Promise<void> {
    this.clicks += 1;
    await this.page.locator('main').getByRole(role, { name }).first().click();
  }

  /** Opens a place of the navigation, which a phone unfolds first. */
  async go(name: string): Promise<void> {
    const menu = this.page.getByRole('button', { name: 'Open the navigation' });
    if (await menu.isVisible()) {
      this.clicks += 1;
      await menu.click();
    }
    this.clicks += 1;
    await this.page
      .getByRole('navigation', { name: 'Main navigation' })
      .getByRole('link', { name, exact: true })
      .click();
  }

  /** Opens what is found for a text. */
  async find(words: string, result: string | RegExp): Promise<void> {
    await this.page.keyboard.press('Control+k');
    await this.page.getByRole('searchbox', { name: 'Search or jump to' }).fill(words);
    this.clicks += 1;
    await this.page.getByRole('menuitem', { name: result }).first().click();
  }

  see(text: string | RegExp): Promise<void> {
    return this.page.locator('main, [role=dialog]').getByText(text).first().waitFor();
  }
}

describeWith('chromium', 'what people ask of the console', () => {
  const using = useConsole();
  let wiki: Awaited<ReturnType<typeof startWikiServer>>;
  let ada: Person;
  let agent = { id: '', accessToken: '' };

  const callTool = async (name: string): Promise<void> => {
    const answer = await fetch(`${using.platform.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: { query: 'holidays' } },
      }),
    });
    expect(answer.status).toBe(200);
  };

  beforeAll(async () => {
    wiki = await startWikiServer({ toAnswer: () => 'See the handbook' });
    const { call, createMember } = using.platform;
    const fields = { name: 'wiki', url: wiki.url, connectors: ['files_1'] };
    const { server } = await call<{ server: { id: string } }>('POST', SERVERS, fields);
    await call('POST', `${SERVERS}/${server.id}/refresh`);
    type Tools = { data: { name: string; hash: string }[] };
    const { data } = await call<Tools>('GET', `${SERVERS}/${server.id}/tools`);
    const tools = data
      .filter(({ name }) => name === 'page_search')
      .map(({ name, hash }) => ({ name, scope: 'kb:read', approve: hash }));
    await call('PATCH', `${SERVERS}/${server.id}/tools`, { tools });
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    await call('POST', `${CRAWLS}/files_1/schedule`, { scheduleConfig, worker: 'pull' });
    const { data: run } = await call<{ data: { runId: string } }>('POST', `${CRAWLS}/files_1/run`);
    const claim = { connectors: ['files_1'], worker: 'files worker', waitMs: 0 };
    const { lease } = await call<{ lease: string }>('POST', `${CRAWLS}/work/claim`, claim);
    const source = { description: 'The folder /srv/handbook', documents: 1_234 };
    await call('POST', `${CRAWLS}/work/${run.runId}/finish`, { lease, state: 'completed', source });

    ada = await createMember('Ada Lovelace');
    const token = { name: 'Notes agent', scopes: ['kb:read'] };
    agent = (await call<{ token: typeof agent }>('POST', TOKENS, token, ada)).token;
    await callTool('wiki__page_search');
    await callTool('whoami');
    type Calls = { data: { tool: string | null }[] };
    await waitFor(
      async () => (await call<Calls>('GET', `/api/v1/agents/token/${agent.id}/calls`)).data.length >= 2,
      { what: 'the record of both calls' },
    );
    // What a newcomer is shown on Home instead of answers is over.
    for (const person of [using.platform.admin, ada]) {
      const { user } = await call<{ user: { id: string } }>('GET', '/api/v1/users/me', undefined, person);
      const page = await using.open('/', { as: person });
      await page.evaluate(`localStorage.setItem('console.start.${user.id}', 'token call crawl event mail')`);
    }
  });
  afterAll(async () => {
    await wiki?.close();
  });

  type Way = (walk: Walk) => Promise<void>;
  const ofAdministrator: Readonly<Record<string, Way>> = {
    async 'Who can call this tool?'(walk) {
      await walk.go('Tools');
      await walk.click('link', /wiki__page_search/);
      await walk.see('Who can use this');
      await walk.see('Ada Lovelace');
    },
    async 'Why was this agent refused, and what mends it?'(walk) {
      await walk.find('Notes agent', /Notes agent/);
      await walk.see('it lacks user:read');
      await walk.see('Ada Lovelace can do that on this page.');
    },
    async 'Whose token is this?'(walk) {
      await walk.find(agent.accessToken, /Notes agent/);
      await walk.see('Ada Lovelace');
    },
    async 'How old is this knowledge, and what does it hold?'(walk) {
      await walk.see(/^Your knowledge is .* old\.$/);
      await walk.go('Knowledge');
      await walk.see(/1,234 documents/);
    },
    async 'What stops working if I remove this person?'(walk) {
      await walk.find('Ada Lovelace', /Ada Lovelace/);
      await walk.click('link', /Ada Lovelace/);
      await walk.click('button', 'Remove…');
      await walk.see('Notes agent');
    },
    async 'What did this agent do?'(walk) {
      await walk.find('Notes agent', /Notes agent/);
      await walk.see('wiki__page_search');
    },
    async 'What may the agents of this member see?'(walk) {
      await walk.find('Ada Lovelace', /Ada Lovelace/);
      await walk.click('link', /Ada Lovelace/);
      await walk.see('Knowledge that their agents can search');
      await walk.see('Can search it');
    },
    async 'What does this connector crawl?'(walk) {
      await walk.go('Knowledge');
      await walk.see('The folder /srv/handbook');
    },
    async 'How much is asked, and by whom?'(walk) {
      await walk.go('Tools');
      await walk.click('link', /wiki__page_search/);
      await walk.see('Calls in the last seven days');
      await walk.see('Ada Lovelace');
    },
    async 'Is everything up?'(walk) {
      await walk.see('Everything is up.');
    },
  };
  const ofMember: Readonly<Record<string, Way>> = {
    async 'Which tools can my agent call?'(walk) {
      await walk.go('Tools');
      await walk.see(/wiki__page_search/);
    },
    async 'Why was my agent refused, and what mends it?'(walk) {
      await walk.go('Tokens');
      await walk.click('link', 'Notes agent');
      await walk.see('it lacks user:read');
      await walk.page.getByRole('button', { name: 'Give it user:read…' }).waitFor();
    },
    async 'Which token is this?'(walk) {
      await walk.find(agent.accessToken, /Notes agent/);
      await walk.see('Ada Lovelace (you)');
    },
    async 'How old is this knowledge, and what does it hold?'(walk) {
      await walk.go('Knowledge');
      await walk.see('The folder /srv/handbook · 1,234 documents');
    },
    async 'What did my agent do?'(walk) {
      await walk.go('Tokens');
      await walk.click('link', 'Notes agent');
      await walk.see('wiki__page_search');
    },
    async 'How do I connect an agent?'(walk) {
      await walk.go('Connect');
      await walk.see(`${using.platform.url}/mcp`);
    },
  };

  describe.each([
    ['an administrator', ofAdministrator],
    ['a member', ofMember],
  ])('by %s', (person, ways) => {
    test.each(Object.entries(ways))('UI-55 %s', async (_question, way) => {
      const as = person === 'a member' ? ada : using.platform.admin;
      for (const width of [1280, 360]) {
        const page = await using.open('/', { as, width });
        const walk = new Walk(page);
        await way(walk);
        expect({ width, isNear: walk.clicks <= MAX_CLICKS || walk.clicks }).toEqual({ width, isNear: true });
        await waitForContent(page);
        const isNarrow = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
        expect({ width, isNarrow: await page.evaluate<boolean>(isNarrow) }).toEqual({
          width,
          isNarrow: true,
        });
        expect(await findBarriersInThemes(page, 'main')).toEqual([]);
      }
    });
  });
});
