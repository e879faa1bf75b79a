import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeWith } from '@platform/testing';
import { copy, findBarriers, useConsole } from './console.js';

describeWith('chromium', 'the screens of events', () => {
  const using = useConsole();
  let receiver: Server;
  let url: string;
  let status = 204;
  const received: string[] = [];

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        received.push((JSON.parse(body) as { type: string }).type);
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  });
  afterAll(async () => {
    await new Promise((resolve) => receiver.close(resolve));
  });

  test('AUD-6 a webhook is added, tested, and shows what was sent to it, which can be sent again', async () => {
    const page = await using.open('/organisation/events/destinations');
    await page.getByText('Events are sent nowhere').waitFor();
    await page.getByRole('button', { name: 'Add a destination' }).click();
    await page.getByRole('textbox', { name: 'Address' }).fill(url);
    await page.getByRole('textbox', { name: 'Description' }).fill('Chat of the security team');
    await page.getByText('Events that are sent: All').click();
    await page.getByText('Token created').click();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add the destination' }).click();
    expect(await copy(page, 'Secret')).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row').filter({ hasText: url }).click();
    await page.getByRole('heading', { level: 1, name: 'Chat of the security team' }).waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('It accepted the test').waitFor();
    expect(received).toEqual(['destination.test']);

    status = 500;
    await using.platform.call('POST', '/api/v1/personal-access-tokens', {
      name: 'agent',
      scopes: ['kb:read'],
    });
    const row = page.getByRole('row').filter({ hasText: 'token.created' });
    await row.getByText('Waits').waitFor();
    await row.click();
    await page.getByRole('dialog').getByText('It answered with an HTTP error. Status 500').first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    status = 204;
    await page.getByRole('button', { name: 'Send again' }).click();
    await row.getByText('Delivered').waitFor();

    await page.getByRole('button', { name: 'Disable…' }).click();
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByText('Chat of the security team is disabled.').waitFor();
  });

  test('AUD-5 everything that happened is shown, newest first, and filtered by type', async () => {
    await using.platform.call('POST', '/api/v1/personal-access-tokens', {
      name: 'newest',
      scopes: ['kb:read'],
    });
    const page = await using.open('/organisation/events?type=token.created');
    await page.getByRole('row').filter({ hasText: 'token.created' }).first().click();
    await page.getByRole('dialog').getByText('"type": "token.created"').waitFor();
    expect(await findBarriers(page)).toEqual([]);
  });
});
