import { describeWith, type Page, waitFor } from '@platform/testing';
import { findBarriers, useConsole } from './console.js';

const TOKENS = '/api/v1/personal-access-tokens';

/** Counts the requests of a page that would create a token. */
function countCreations(page: Page): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith(TOKENS)) count += 1;
  });
  return () => count;
}

async function openNewToken(page: Page, name?: string): Promise<void> {
  await page.getByRole('button', { name: 'New token' }).first().click();
  await page.getByRole('textbox', { name: 'Name' }).waitFor();
  await page.getByRole('dialog').getByRole('checkbox').first().waitFor({ state: 'attached' });
  if (name !== undefined) await page.getByRole('textbox', { name: 'Name' }).fill(name);
}

/** Keeps the requests of a page that match until they are released. */
async function hold(page: Page, url: string | RegExp, method = 'GET'): Promise<() => void> {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(url, async (route) => {
    if (route.request().method() === method) await held;
    await route.continue();
  });
  return release;
}

describeWith('chromium', 'what can go wrong with', () => {
  const using = useConsole();

  describe('a form', () => {
    test('UI-11 creates one token when it is submitted twice before anything is rendered', async () => {
      const page = await using.open('/account/tokens');
      const count = countCreations(page);
      await openNewToken(page, 'Only once');
      await page.evaluate(`{
        const button = document.querySelector('[role=dialog] button[type=submit]');
        button.click();
        button.click();
      }`);
      await page.getByText('shown this once').waitFor();
      expect(count()).toBe(1);
    });

    test('takes the click on its button that follows a mended field', async () => {
      const page = await using.open('/organisation/service-accounts');
      await page.getByRole('button', { name: 'New service account' }).first().click();
      const submit = page.getByRole('button', { name: 'Create account' });
      await submit.click();
      const name = page.getByRole('textbox', { name: 'Name' });
      await waitFor(async () => (await name.getAttribute('aria-invalid')) === 'true', {
        what: 'the message',
      });
      await name.fill('Mended');
      // A click of a person takes a moment, in which the field loses the focus and its message, and is not in the middle.
      const { height = 0 } = (await submit.boundingBox()) ?? {};
      await submit.click({ delay: 200, position: { x: 20, y: height - 3 } });
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    });

    test('UI-11 says at the field, in words, what the platform finds wrong', async () => {
      using.allowFaults(/400/);
      const page = await using.open('/account/tokens');
      await openNewToken(page, 'Office');
      const ranges = page.getByLabel('Allowed addresses');
      if (!(await ranges.isVisible())) await page.getByText('Advanced').click();
      await ranges.fill('10.0.0.0/8\n203.0.113.0/33');
      await page.getByRole('button', { name: 'Create token' }).click();
      await page.getByText('“203.0.113.0/33” must be a CIDR range').waitFor();
      expect(await ranges.getAttribute('aria-invalid')).toBe('true');
      expect(await page.getByText('allowList').count()).toBe(0);
      await ranges.fill('10.0.0.0/8');
      await page.getByRole('button', { name: 'Create token' }).click();
      await page.getByText('shown this once').waitFor();
    });

    test('UI-11 asks before Escape throws away what is typed', async () => {
      const page = await using.open('/account/tokens');
      await openNewToken(page, 'Long thought about');
      await page.keyboard.press('Escape');
      await page.getByRole('alertdialog').getByRole('button', { name: 'Keep editing' }).click();
      expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Long thought about');
      await page.keyboard.press('Escape');
      await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await openNewToken(page);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    });

    test('UI-11 asks before another screen takes the place of what is typed, and no longer once it is saved', async () => {
      const page = await using.open('/mails/smtp');
      const host = page.getByRole('textbox', { name: 'Host' });
      await host.fill('smtp.example.org');
      await page.getByRole('link', { name: 'Members' }).click();
      const question = page.getByRole('alertdialog');
      expect(await findBarriers(page)).toEqual([]);
      await question.getByRole('button', { name: 'Keep editing' }).click();
      expect(await host.inputValue()).toBe('smtp.example.org');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('The SMTP server is saved.').waitFor();
      await page.getByRole('link', { name: 'Tokens' }).click();
      await page.getByRole('heading', { level: 1, name: 'My tokens' }).waitFor();

      await openNewToken(page, 'Long thought about');
      await page.goBack();
      await question.getByRole('button', { name: 'Keep editing' }).click();
      expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Long thought about');
      const asked = page.waitForEvent('dialog');
      await page.keyboard.type('!');
      // The question keeps a script that waits for the reload from going on.
      await page.evaluate('void setTimeout(() => location.reload())');
      await (await asked).dismiss();
      await page.goBack();
      await question.getByRole('button', { name: 'Discard' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('heading', { level: 1, name: 'My tokens' }).waitFor();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'SMTP server' }).waitFor();
    });

    test('UI-15 is sent again with the same values after it was refused', async () => {
      using.allowFaults(/409/);
      const { call } = using.platform;
      const taken = { email: `${Date.now()}@taken.example.com`, fullName: 'Somebody' };
      const { user } = await call<{ user: { id: string } }>('POST', '/api/v1/users', taken);
      const page = await using.open('/organisation/members');
      await page.getByRole('button', { name: 'Invite a member' }).first().click();
      const email = page.getByRole('textbox', { name: 'E-mail address' });
      await email.fill(taken.email);
      await page.getByRole('textbox', { name: 'Full name' }).fill(taken.fullName);
      for (const send of ['click', 'Enter'] as const) {
        const answer = page.waitForResponse((response) => response.request().method() === 'POST');
        if (send === 'click') await page.getByRole('button', { name: 'Send the invitation' }).click();
        else await email.press('Enter');
        expect((await answer).status()).toBe(409);
        await waitFor(async () => (await email.getAttribute('aria-invalid')) === 'true', {
          what: 'the fault',
        });
      }
      await call('DELETE', `/api/v1/users/${user.id}`);
      await page.getByRole('button', { name: 'Send the invitation' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    });

    test('UI-15 of a tall dialog shows in sight what went wrong', async () => {
      using.allowFaults(/409/);
      const page = await using.open('/crawls?do=new');
      await page.setViewportSize({ width: 1280, height: 420 });
      await page.getByRole('button', { name: 'Save schedule' }).waitFor();
      const refused = {
        success: false,
        error: { code: 'TOO_MANY', message: 'There are too many schedules' },
      };
      await page.route('**/schedule', (route) => route.fulfill({ status: 409, json: refused }));
      await page
        .getByRole('dialog')
        .locator('.dialog-content')
        .evaluate((content) => content.scrollTo(0, 0));
      await page.keyboard.press('Tab');
      await page.evaluate(`document.querySelector('[role=dialog] form').requestSubmit()`);
      const note = page.getByRole('alert').getByText('too many schedules');
      await note.waitFor();
      const isSeen = await note.evaluate((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
      });
      expect(isSeen).toBe(true);
    });

    test('UI-15 shows no answer to the question before beside one that is empty or invalid', async () => {
      const page = await using.open('/crawls?do=new');
      const preview = page.getByRole('region', { name: 'Next runs' });
      await preview.getByRole('listitem').first().waitFor();
      await page.getByRole('button', { name: /Runs/ }).click();
      await page.getByRole('option', { name: 'Once' }).click();
      await preview.getByText('Complete the fields above').waitFor();
      // A moment is chosen in the zone of the browser, and no other is asked for.
      expect(await page.getByRole('combobox', { name: 'Time zone' }).count()).toBe(0);
      expect(await preview.getByRole('listitem').count()).toBe(0);
    });

    test('UI-16 is left by Back for the screen that it lies over, and so are the navigation and the palette', async () => {
      await using.platform.call('POST', TOKENS, { name: 'Stays', scopes: ['user:read'] });
      const page = await using.open('/account');
      await page.getByRole('link', { name: 'Tokens' }).click();
      await page.getByRole('button', { name: 'Actions for Stays' }).click();
      await page.getByRole('menuitem', { name: 'Revoke…' }).click();
      const dialog = page.getByRole('dialog');
      const leaves = async (): Promise<void> => {
        await dialog.waitFor();
        await page.goBack();
        await dialog.waitFor({ state: 'detached' });
        await page.getByRole('heading', { level: 1, name: 'My tokens' }).waitFor();
      };
      await leaves();
      await page.keyboard.press('ControlOrMeta+k');
      await leaves();
      await page.setViewportSize({ width: 390, height: 800 });
      await page.getByRole('button', { name: 'Open the navigation' }).click();
      await leaves();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'My account' }).waitFor();
    });

    test('UI-11 asks before Back closes a dialog that the palette has opened', async () => {
      const page = await using.open('/account/tokens');
      await page.keyboard.press('ControlOrMeta+k');
      await page.getByRole('searchbox', { name: 'Search or jump to' }).waitFor();
      await page.keyboard.type('create a token');
      await page.getByRole('menuitem', { name: 'Home' }).waitFor({ state: 'detached' });
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      const name = page.getByRole('textbox', { name: 'Name' });
      await name.fill('Long thought about');
      await page.goBack();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Keep editing' }).click();
      expect(await name.inputValue()).toBe('Long thought about');
      await page.goBack();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(new URL(page.url()).search).toBe('');
    });
  });

  describe('a change', () => {
    test('is not sent before what it chooses from is loaded', async () => {
      using.allowFaults(/ERR_FAILED/);
      const { call } = using.platform;
      const policy = { maxLifetimeDays: null, allowsNever: true, allowList: [], revokeFamilyOnReuse: false, revokeUnusedDays: null };
      await call('PUT', '/api/v1/organisation/token-policy', { ...policy, deniedScopes: ['user:write'] });
      const page = await using.open('/account/tokens');
      const count = countCreations(page);
      const release = await hold(page, '**/personal-access-tokens/scopes');
      await page.getByRole('button', { name: 'New token' }).first().click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Too early');
      await page.keyboard.press('Enter');
      const submit = page.getByRole('button', { name: 'Create token' });
      expect(await submit.isDisabled()).toBe(true);
      release();
      await submit.and(page.locator(':enabled')).waitFor();
      expect(count()).toBe(0);

      await page.route('**/personal-access-tokens/scopes', (route) => route.abort());
      await page.goto(`${using.platform.url}/organisation/token-policy`);
      await page.getByRole('button', { name: 'Change the policy…' }).click();
      await page.getByRole('dialog').getByText('can’t be reached').waitFor();
      const check = page.getByRole('button', { name: 'Check what it affects' });
      expect(await check.isDisabled()).toBe(true);
      await page.unroute('**/personal-access-tokens/scopes');
      await page.getByRole('button', { name: 'Try again' }).click();
      await check.click();
      await page.getByRole('button', { name: 'Back' }).click();
      await check.click();
      await page.getByRole('button', { name: 'Save the policy' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const saved = await call<{ policy: { deniedScopes: string[] } }>('GET', '/api/v1/organisation/token-policy');
      expect(saved.policy.deniedScopes).toEqual(['user:write']);
      await call('PUT', '/api/v1/organisation/token-policy', { ...policy, deniedScopes: [] });
    }); // oxfmt-ignore

    test('UI-11 keeps its dialog open until it is answered, and what is shown once until somebody leaves it', async () => {
      const page = await using.open('/account');
      await page.getByRole('link', { name: 'Tokens' }).click();
      await openNewToken(page, 'Nobody misses it');
      const release = await hold(page, `**${TOKENS}`, 'POST');
      await page.getByRole('button', { name: 'Create token' }).click();
      const cancel = page.getByRole('button', { name: 'Cancel' });
      await cancel.and(page.locator(':disabled')).waitFor();
      await page.keyboard.press('Escape');
      await page.goBack();
      const question = page.getByRole('alertdialog');
      await question.getByText('not answered yet').waitFor();
      await question.getByRole('button', { name: 'Wait' }).click();
      release();
      await page.getByText('shown this once').waitFor();
      await page.goBack();
      await question.getByText('cannot be shown again').waitFor();
      await question.getByRole('button', { name: 'Stay' }).click();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    });

    test('UI-11 stays what was asked when it was applied and its answer was lost', async () => {
      using.allowFaults(/502/);
      const { call } = using.platform;
      const { application } = await call<{ application: { clientId: string } }>('POST', '/api/v1/oauth-applications', {
        name: 'Reader', scopes: ['user:read'], grantTypes: ['client_credentials'],
      });
      const { server } = await call<{ server: { id: string } }>('POST', '/api/v1/mcp-servers', { name: 'frozen', url: 'https://mcp.example.com/mcp', rules: [] });
      const { destination } = await call<{ destination: { id: string } }>('POST', '/api/v1/events/destinations', { form: 'webhook', url: 'https://events.example.com/' });
      for (const [path, opener, request] of [
        ['/organisation/sign-in', 'Require…', '**/signInConfig'],
        [`/organisation/applications/${application.clientId}`, 'Disable…', `**/oauth-applications/${application.clientId}`],
        [`/organisation/mcp-servers/${server.id}`, 'Disable…', `**/mcp-servers/${server.id}`],
        [`/activity/destinations/${destination.id}`, 'Disable…', `**/destinations/${destination.id}`],
      ] as const) {
        const page = await using.open(path);
        await page.route(request, async (route) => {
          if (route.request().method() === 'GET') await route.continue();
          else await route.fetch().then(() => route.fulfill({ status: 502, json: {} }));
        });
        await page.getByRole('button', { name: opener }).click();
        const dialog = page.getByRole('dialog');
        const submit = dialog.locator('button[type=submit]');
        const asked = await submit.textContent();
        await submit.click();
        await dialog.getByText('The change may have been made').waitFor();
        // The page behind it has been loaded again.
        await page.getByRole('button', { name: opener, includeHidden: true }).waitFor({ state: 'detached' });
        expect([path, await submit.textContent()]).toEqual([path, asked]);
      }
    }); // oxfmt-ignore

    test('UI-11 puts each fault at its field, whatever the others are about', async () => {
      using.allowFaults(/40[09]/);
      const { call, admin } = using.platform;
      await call('GET', '/api/v1/users/me');
      const page = await using.open('/organisation/members');
      await page.getByRole('button', { name: 'Invite a member' }).first().click();
      const email = page.getByRole('textbox', { name: 'E-mail address' });
      await email.fill(admin.email);
      await page.getByRole('textbox', { name: 'Full name' }).fill('Somebody');
      await page.getByRole('button', { name: 'Send the invitation' }).click();
      await page.getByText('A member has this address already').waitFor();
      expect(await email.getAttribute('aria-invalid')).toBe('true');

      await page.goto(`${using.platform.url}/activity/destinations`);
      await page.getByRole('button', { name: 'Add a destination' }).first().click();
      await page.getByText('Batches in order').click();
      await page.getByRole('textbox', { name: 'Address' }).fill('https://collector.example.com/v1/logs');
      const header = page.getByLabel('Header', { exact: true });
      await header.fill('not a header');
      await page.getByLabel('Whole value of the header').fill('secret');
      await page.getByRole('button', { name: 'Add the destination' }).click();
      await waitFor(async () => (await header.getAttribute('aria-invalid')) === 'true', {
        what: 'the fault',
      });
    });

    test('API-18 keeps what a form does not show, and a secret with the header that it was given for', async () => {
      const { call } = using.platform;
      const provider = '/api/v1/organisation/identity-provider';
      type Saved = { identityProvider: { groupsClaim: string; hasClientSecret: boolean; secondFactorValues: string[] } };
      await call('PUT', provider, {
        issuer: 'https://login.example.com', clientId: 'console', clientSecret: 'a-secret', groupsClaim: 'roles',
      });
      let page = await using.open('/organisation/sign-in');
      await page.getByRole('button', { name: 'Change…' }).last().click();
      await page.getByRole('textbox', { name: /second factor/ }).fill('mfa');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect((await call<Saved>('GET', provider)).identityProvider).toMatchObject({
        groupsClaim: 'roles', hasClientSecret: true, secondFactorValues: ['mfa'],
      });
      await call('DELETE', provider);

      const { destination } = await call<{ destination: { id: string } }>('POST', '/api/v1/events/destinations', {
        form: 'logs', url: 'https://logs.example.com/', credential: { header: 'authorization', value: 'Bearer a' },
      });
      page = await using.open(`/activity/destinations/${destination.id}`);
      await page.getByRole('button', { name: 'Edit…' }).click();
      await page.getByLabel('Header', { exact: true }).fill('x-key');
      await page.getByRole('button', { name: 'Save' }).click();
      const value = page.getByLabel('Whole value of the header');
      await waitFor(async () => (await value.getAttribute('aria-invalid')) === 'true', { what: 'the fault' });
      await page.getByLabel('Header', { exact: true }).fill('authorization');
      await page.getByText('Remove the stored secret').click();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const saved = await call<{ destination: { credentialHeader: null } }>('GET', `/api/v1/events/destinations/${destination.id}`);
      expect(saved.destination.credentialHeader).toBeNull();
    }); // oxfmt-ignore

    test('UI-11 asks before Escape throws away what was only chosen, or a pasted secret', async () => {
      const page = await using.open('/crawls?do=new');
      const question = page.getByRole('alertdialog');
      const leaves = async (): Promise<void> => {
        await page.keyboard.press('Escape');
        await question.getByRole('button', { name: 'Discard' }).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      };
      await page.getByRole('button', { name: /Runs/ }).click();
      await page.getByRole('option', { name: /week/ }).click();
      await leaves();
      await page.getByRole('button', { name: 'Schedule a connector' }).first().click();
      await page.getByRole('textbox', { name: 'Hour' }).focus();
      await page.keyboard.press('ArrowUp');
      await leaves();
      await page.goto(`${using.platform.url}/organisation/sign-in`);
      await page.getByRole('button', { name: 'Set up…' }).click();
      await page.getByLabel('Client secret').fill('pasted');
      await leaves();
    });

    /** Opens a connector whose runs wait, since no worker asks for them. */
    async function openScheduled(connector: string): Promise<Page> {
      const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
      const path = `/api/v1/crawlingManager/${connector}/schedule`;
      await using.platform.call('POST', path, { scheduleConfig, worker: 'pull' });
      return using.open(`/crawls/connectors/${connector}`);
    }

    test('UI-11 is made once by buttons that are no forms', async () => {
      const page = await openScheduled('wiki_1');
      let count = 0;
      page.on('request', (request) => {
        if (request.url().endsWith('/run')) count += 1;
      });
      const button = page.getByRole('button', { name: 'Run now' }).first();
      await button.waitFor();
      await button.evaluate((element: HTMLElement) => {
        element.click();
        element.click();
      });
      await page.locator('output').getByText('Wiki').waitFor();
      expect(count).toBe(1);
      expect(await page.getByRole('alert').count()).toBe(0);
    });

    test('a run that was cancelled before a worker claimed it is not said to wait for one', async () => {
      const page = await openScheduled('support_1');
      await page.getByRole('button', { name: 'Run now' }).first().click();
      await page.getByRole('row').nth(1).getByRole('link').click();
      await page.getByText('No worker has claimed it yet').waitFor();
      await page.getByRole('button', { name: 'Cancel the run…' }).click();
      await page.getByRole('button', { name: 'Let it run' }).waitFor();
      await page.getByRole('button', { name: 'Cancel the run', exact: true }).click();
      await page.getByText('No worker claimed it').waitFor();
      expect(await page.getByText('No worker has claimed it yet').count()).toBe(0);
    });

    test('of another connector shows none of the runs of the one before', async () => {
      const page = await openScheduled('chat_1');
      await page.getByRole('button', { name: 'Run now' }).first().click();
      await page.getByRole('row').nth(1).waitFor();
      const release = await hold(page, '**/mail_1/**');
      await page.keyboard.press('ControlOrMeta+k');
      await page.getByRole('searchbox', { name: 'Search or jump to' }).fill('mail_1');
      await page.getByRole('menuitem', { name: /mail_1/ }).click();
      await page.getByRole('heading', { level: 1, name: /Mail/ }).waitFor();
      expect(await page.getByRole('row').count()).toBe(0);
      release();
      await page.getByText('It has not run yet').waitFor();
    });

    test('an invitation is not said to be mailed while nobody knows', async () => {
      using.allowFaults(/500/);
      const page = await using.open('/organisation/members');
      await page.getByRole('button', { name: 'Invite a member' }).first().click();
      await page.route('**/smtpConfig', (route) => route.fulfill({ status: 500, json: {} }));
      await page.getByRole('textbox', { name: 'E-mail address' }).fill(`${Date.now()}@example.com`);
      await page.getByRole('textbox', { name: 'Full name' }).fill('Somebody');
      await page.keyboard.press('Enter');
      await page.locator('output').getByText('it could not be read').waitFor();
    });

    test('a test or a preview that gets no answer says that nothing was changed', async () => {
      using.allowFaults(/ERR_FAILED/);
      const page = await using.open('/mails/smtp');
      await page.route('**/testConnection', (route) => route.abort());
      await page.getByRole('button', { name: 'Test', exact: true }).click();
      await page.getByText('Nothing was changed').waitFor();
      await page.route('**/preview?**', (route) => route.abort());
      await page.goto(`${using.platform.url}/crawls?do=new`);
      await page.getByText('Nothing was changed').waitFor();
      expect(await page.getByText('unknown whether').count()).toBe(0);
    });
  });

  describe('a platform that is away', () => {
    test('UI-16 is asked again until it is back, for lists, details, screens and who is signed in', async () => {
      using.allowFaults(/502|Bad Gateway|ERR_FAILED/);
      const { call } = using.platform;
      await call('POST', TOKENS, { name: 'Comes back', scopes: ['user:read'] });
      for (const [path, lost] of [
        ['/account/tokens', '**/api/v1/personal-access-tokens?**'],
        ['/account/tokens', '**/tokens-*.js'],
        ['/account/tokens', '**/api/v1/users/me'],
      ] as const) {
        const page = await using.open('/account', { isNewBrowser: true });
        await page.route(lost, (route) =>
          lost.endsWith('.js') ? route.abort() : route.fulfill({ status: 502, json: {} }),
        );
        await page.goto(using.platform.url + path);
        await page.getByRole('button', { name: 'Try again' }).waitFor();
        await page.unroute(lost);
        await page.getByRole('row', { name: /Comes back/ }).waitFor();
      }
    });
  });

  describe('a missing network, of which the console', () => {
    test('says so of code that is not loaded yet, loses nothing, and loads it later', async () => {
      using.allowFaults(/ERR_INTERNET_DISCONNECTED/);
      const page = await using.open('/mails/smtp');
      const host = page.getByRole('textbox', { name: 'Host' });
      await host.fill('smtp.example.org');
      await page.context().setOffline(true);
      await page.keyboard.press('ControlOrMeta+k');
      const fault = page.locator('dialog').getByText('You are offline. This is loaded');
      await fault.waitFor();
      await page.getByRole('button', { name: 'Close' }).click();
      await page.keyboard.press('ControlOrMeta+k');
      await fault.waitFor();
      await page.context().setOffline(false);
      await page.getByRole('searchbox', { name: 'Search or jump to' }).waitFor();
      await page.keyboard.press('Escape');
      await page.context().setOffline(true);
      expect(await host.inputValue()).toBe('smtp.example.org');
      await page.getByRole('link', { name: 'Activity', exact: true }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
      await page.getByRole('main').getByText('You are offline. This is loaded').waitFor();
      await page.getByRole('link', { name: 'Mail', exact: true }).waitFor();
      await page.context().setOffline(false);
      await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor();
    });

    test('says of code that fails to load how to go on, and loads it when it is asked to', async () => {
      using.allowFaults(/ERR_FAILED/);
      const page = await using.open('/account/tokens');
      await page.route('**/create-token-*.js', (route) => route.abort());
      await page.getByRole('button', { name: 'New token' }).first().click();
      await page.getByText('could not be loaded. Try again').waitFor();
      await page.unroute('**/create-token-*.js');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('textbox', { name: 'Name' }).waitFor();
    });

    test('UI-12 says so at once, and sends nothing by itself later', async () => {
      using.allowFaults(/ERR_INTERNET_DISCONNECTED/);
      const page = await using.open('/account/tokens');
      const count = countCreations(page);
      await openNewToken(page, 'Never sent');
      await page.context().setOffline(true);
      await page.getByRole('button', { name: 'Create token' }).click();
      await page.getByRole('dialog').getByText('You are offline. Nothing was sent').waitFor();
      // What had been kept would be sent before the list that the page reads again as soon as it is online.
      const list = page.waitForResponse((response) => response.url().includes(TOKENS));
      await page.context().setOffline(false);
      await list;
      await page.getByText('You are offline. What you see').waitFor({ state: 'detached' });
      expect(count()).toBe(0);
      await page.getByRole('button', { name: 'Create token' }).click();
      await page.getByText('shown this once').waitFor();
    });

    test('does not wait for ever for what it reads, and reads it once there is a network', async () => {
      using.allowFaults(/ERR_INTERNET_DISCONNECTED/);
      const page = await using.open('/account/tokens');
      await page.getByRole('searchbox').waitFor();
      await page.context().setOffline(true);
      await page.getByRole('searchbox').fill('anything');
      await page.getByText('You are offline. This is loaded').waitFor();
      await page.context().setOffline(false);
      await page.getByText('No token matches').waitFor();
    });
  });
});
