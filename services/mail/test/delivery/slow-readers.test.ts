import { waitFor } from '@platform/testing';
import { createDeliver, type Deliver } from '../../src/features/delivery/deliver.js';
import type { Outcome } from '../../src/features/delivery/outcome.js';
import { createTransportPools, type TransportPools } from '../../src/features/delivery/pools.js';
import { createHostResolver } from '@platform/service-kit';
import { type Behaviour, type SmtpUnderTest, startSmtp } from '../smtp-server.js';

/** Exceeds what the socket buffers of both ends can hold. */
const LARGE = Buffer.alloc(25 * 1_048_576);

let smtp: SmtpUnderTest;
let pools: TransportPools;
beforeEach(async () => {
  smtp = await startSmtp();
});
afterEach(async () => {
  await pools.close();
  await smtp.close();
});

function createDelivery(limits: { readonly stepTimeoutMs: number; readonly deadlineMs: number }): Deliver {
  pools = createTransportPools({
    clientName: 'mail.example',
    targets: { allows: () => true },
    resolveHost: createHostResolver(),
    connectionsPerPool: 2,
    idleMs: 600_000,
    timeoutMs: limits.stepTimeoutMs,
    maxPools: 10,
  });
  return createDeliver(pools, limits.deadlineMs);
}

/** Sends a mail without its size, so that the deadline of a small mail applies. */
const send = (deliver: Deliver, id: string, content: Buffer): Promise<Outcome> =>
  deliver({
    orgId: 'one',
    poolKey: 'one',
    isCode: false,
    onData: async () => undefined,
    signal: new AbortController().signal,
    configuration: { host: '127.0.0.1', port: smtp.port, fromEmail: 'noreply@corp.example', tls: 'none' },
    messageBytes: 0,
    from: 'noreply@corp.example',
    isInternational: false,
    recipients: ['to@example.com'],
    message: (_transaction, signal) => ({
      messageId: `<${id}@corp.example>`,
      signal,
      from: 'noreply@corp.example',
      to: 'to@example.com',
      text: 'hello',
      attachments: [{ filename: 'a.bin', content }],
    }),
  });

describe.each<[string, string]>([
  ['stops reading in the middle of the message', 'stall'],
  ['reads so slowly that no step ever times out', 'sip'],
])('a server that %s', (_name, reply) => {
  beforeEach(() => {
    const behaviour: Behaviour = (step, _line, count) =>
      step === 'CHUNK' && count === 1 ? reply : undefined;
    smtp.behave(behaviour);
  });

  test('does not hold up another mail', async () => {
    // The timeouts are so long that nothing times out, however busy the machine is.
    const deliver = createDelivery({ stepTimeoutMs: 600_000, deadlineMs: 600_000 });
    let isOver = false;
    const large = send(deliver, 'large', LARGE).finally(() => {
      isOver = true;
    });
    await waitFor(() => smtp.count('CHUNK') === 1, { what: 'the message' });
    expect([await send(deliver, 'small', Buffer.alloc(10)), isOver]).toEqual([
      { state: 'sent', recipients: [] },
      false,
    ]);
    await smtp.close();
    expect((await large).state).toBe('unknown');
  });

  test('makes the outcome unknown at the deadline, and its connection is closed', async () => {
    const deliver = createDelivery({ stepTimeoutMs: 3_000, deadlineMs: 4_000 });
    expect((await send(deliver, 'large', LARGE)).state).toBe('unknown');
    expect([smtp.count('DATA'), smtp.accepted.length]).toEqual([1, 0]);
    const isClosed = () => {
      // A server that doesn't read notices a closed connection only when it writes.
      smtp.say('250 late');
      return smtp.open() === 0;
    };
    await waitFor(isClosed, { what: 'the close of its connection' });
  });
});
