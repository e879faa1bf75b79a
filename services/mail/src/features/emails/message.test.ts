import { createDeliver } from '../delivery/deliver.js';
import { createTransportPools } from '../delivery/pools.js';
import { createHostResolver } from '@platform/service-kit';
import type { RenderedEmail } from './rendered-email.js';
import { toDeliveredMessage, toMessageId } from './message.js';

const createEmail = (fields: Partial<RenderedEmail>): RenderedEmail => ({
  templateType: 'loginWithOTP',
  subject: 'Your code',
  from: 'noreply@corp.example',
  to: ['to@example.com'],
  cc: [],
  html: '<p>1</p>',
  text: '1',
  isAutomatic: false,
  attachments: [],
  ...fields,
});

test.each([
  ['noreply@corp.example', '<1@corp.example>'],
  ['noreply@bücher.example', '<1@xn--bcher-kva.example>'],
  ['noreply@10.0.0.1', '<1@10.0.0.1>'],
  ['noreply@\u2024', '<1@invalid>'],
])('the Message-ID of a mail from %s is %s', (from, messageId) => {
  expect(toMessageId('1', from)).toBe(messageId);
});

test('a message that cannot be composed fails its mail without an exception', async () => {
  const pools = createTransportPools({
    targets: { allows: () => true },
    resolveHost: createHostResolver(),
    clientName: 'test',
    connectionsPerPool: 1,
    idleMs: 1_000,
    timeoutMs: 1_000,
    maxPools: 1,
  });
  const email = createEmail({});
  Object.defineProperty(email, 'subject', {
    get: () => {
      throw new TypeError('not this one');
    },
  });
  const outcome = await createDeliver(
    pools,
    1_000,
  )({
    orgId: 'one',
    poolKey: 'one',
    isCode: false,
    configuration: { host: '127.0.0.1', port: 9, fromEmail: 'noreply@corp.example', tls: 'none' },
    recipients: email.to,
    ...toDeliveredMessage(email, '<1@corp.example>', new Date(0)),
    onData: async () => undefined,
    signal: new AbortController().signal,
  });
  await pools.close();
  expect(outcome).toEqual({ state: 'failed', problem: { code: 'EUNKNOWN' }, recipients: [] });
});
