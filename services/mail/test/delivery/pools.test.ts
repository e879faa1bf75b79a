import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { waitFor } from '@platform/testing';
import { createTransportPools } from '../../src/features/delivery/pools.js';
import { createHostResolver } from '@platform/service-kit';
import type { SmtpConfiguration } from '../../src/features/smtp-configuration/configuration.js';
import { type SmtpUnderTest, startSmtp } from '../smtp-server.js';

const ORGANISATIONS = 100;
const MAX_POOLS = 30;

let smtp: SmtpUnderTest;
beforeEach(async () => {
  smtp = await startSmtp();
});
afterEach(() => smtp.close());

const start = (maxPools: number, idleMs: number) =>
  createTransportPools({
    clientName: 'mail.example',
    targets: { allows: () => true },
    resolveHost: createHostResolver(),
    connectionsPerPool: 5,
    tokens: { get: async () => 'token', reject: async () => undefined },
    idleMs,
    timeoutMs: 5_000,
    maxPools,
  });

const createConfiguration = (organisation: string): SmtpConfiguration => ({
  host: '127.0.0.1',
  port: smtp.port,
  fromEmail: `noreply@${organisation}.example`,
  tls: 'none',
});

function send(
  pools: ReturnType<typeof start>,
  organisation: string,
  number: number,
  choice: { readonly configuration?: SmtpConfiguration; readonly isCode?: boolean } = {},
) {
  const id = `<${number}.${organisation}@corp.example>`;
  return pools.attempt(
    {
      orgId: organisation,
      poolKey: organisation,
      isCode: false,
      configuration: createConfiguration(organisation),
      ...choice,
    },
    {
      messageId: id,
      signal: new AbortController().signal,
      from: `noreply@${organisation}.example`,
      to: 'to@example.com',
      subject: id,
      text: 'hello',
    },
    async () => undefined,
  );
}

/** Calls `work` with each number below `count`, twenty at a time. */
async function forEachNumber(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: 20 }, worker));
}

// oxfmt-ignore
test('organisations stay within the limits of pools and connections, and each mail is sent once from its sender', async () => {
  const pools = start(MAX_POOLS, 60_000);
  let maxPoolsSeen = 0;
  await forEachNumber(2 * ORGANISATIONS, async (number) => {
    const { outcome } = await send(pools, `org-${number % ORGANISATIONS}`, number);
    expect(outcome).toEqual({ state: 'sent', recipients: [] });
    maxPoolsSeen = Math.max(maxPoolsSeen, pools.size);
  });
  expect(maxPoolsSeen).toBe(MAX_POOLS);
  // Evicted pools close after their mails; each remaining pool has one connection.
  await waitFor(() => smtp.open() <= MAX_POOLS, { what: 'the close of evicted connections' });
  const subjects = smtp.accepted.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw)?.[1] ?? '');
  expect([subjects.length, new Set(subjects).size]).toEqual([2 * ORGANISATIONS, 2 * ORGANISATIONS]);
  const strays = smtp.accepted.filter(({ from, raw }) => !raw.includes(`.${from.slice(8, -8)}@corp.example`));
  expect(strays).toEqual([]);
  await pools.close();
  await waitFor(() => smtp.open() === 0, { what: 'the close of all connections' });
});

test('an organisation that keeps sending keeps its connection while other pools are evicted', async () => {
  const pools = start(3, 60_000);
  for (let number = 0; number < 6; number += 1) {
    await send(pools, 'busy', number);
    await send(pools, `other-${number}`, number);
  }
  await waitFor(() => smtp.open() <= 3, { what: 'the close of evicted connections' });
  // One connection for the busy organisation, and one for each of the others.
  expect(smtp.connections()).toBe(7);
  await pools.close();
});

test('a code has one of the three connections that Microsoft allows a mailbox, however busy the others are', async () => {
  const pools = start(MAX_POOLS, 60_000);
  const configuration = {
    ...createConfiguration('org-1'),
    username: 'noreply@org-1.example',
    oauth: { provider: 'microsoft', tenant: 'corp.example', clientId: 'a', clientSecret: 'b' },
  } as const;
  smtp.behave((step) => {
    if (step === 'EHLO') return '250-test\r\n250 AUTH XOAUTH2';
    return step === 'MESSAGE' ? 'hang' : undefined;
  });
  const others = [1, 2, 3, 4, 5].map((number) => send(pools, 'org-1', number, { configuration }));
  await waitFor(() => smtp.count('MESSAGE') === 2, { what: 'two mails in progress' });
  const code = send(pools, 'org-1', 6, { configuration, isCode: true });
  await waitFor(() => smtp.count('MESSAGE') === 3, { what: 'the code' });
  expect(smtp.connections()).toBe(3);
  smtp.behave(() => undefined);
  smtp.say('250 queued');
  const results = await Promise.all([...others, code]);
  expect(results.map(({ outcome }) => outcome.state)).toEqual(Array(6).fill('sent'));
  await pools.close();
});

test('idle connections are closed, and the next mail opens a new one', async () => {
  const pools = start(MAX_POOLS, 200);
  await forEachNumber(5, async (number) => {
    await send(pools, `org-${number}`, number);
  });
  await waitFor(() => smtp.open() === 0, { what: 'the close of idle connections' });
  expect(pools.size).toBe(5);
  expect((await send(pools, 'org-1', 6)).outcome.state).toBe('sent');
  await pools.close();
});

test.each([
  ['in parts', (content: Buffer) => ({ attachments: [{ filename: 'a.bin', content }] })],
  ['in one piece', (raw: Buffer) => ({ raw, envelope: { from: 'a@b.example', to: 'to@example.com' } })],
])('an open connection does not keep a mail sent %s in memory', async (_name, getBody) => {
  const pools = start(MAX_POOLS, 60_000);
  const attach = async (): Promise<WeakRef<Buffer>> => {
    const content = Buffer.alloc(100_000, 'attachment');
    const { outcome } = await pools.attempt(
      { orgId: 'org-1', poolKey: 'org-1', isCode: false, configuration: createConfiguration('org-1') },
      {
        messageId: '<1@corp.example>',
        signal: new AbortController().signal,
        from: 'noreply@org-1.example',
        to: 'to@example.com',
        ...getBody(content),
      },
      async () => undefined,
    );
    expect(outcome.state).toBe('sent');
    return new WeakRef(content);
  };
  const held = await attach();
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  await waitFor(
    () => {
      collectGarbage();
      return held.deref() === undefined;
    },
    { what: 'the garbage collection of the attachment' },
  );
  expect(smtp.open()).toBe(1);
  await pools.close();
});
