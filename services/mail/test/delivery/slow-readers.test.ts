import { waitFor } from '@platform/testing';
import { createDeliver, type Deliver } from '../../src/features/delivery/deliver.js';
import type { Outcome } from '../../src/features/delivery/outcome.js';
import { createTransportPools, type TransportPools } from '../../src/features/delivery/pools.js';
import { type Behaviour, type SmtpUnderTest, startSmtp } from '../smtp-server.js';

const STEP_TIMEOUT_MS = 3_000;
const DEADLINE_MS = 4_000;
/** More than the system keeps between both ends. */
const LARGE = Buffer.alloc(25 * 1_048_576);

let smtp: SmtpUnderTest;
let pools: TransportPools;
let deliver: Deliver;
beforeEach(async () => {
  smtp = await startSmtp();
  pools = createTransportPools({
    clientName: 'mail.example',
    connectionsPerPool: 2,
    idleMs: 60_000,
    timeoutMs: STEP_TIMEOUT_MS,
    poolsMax: 10,
  });
  deliver = createDeliver(pools, DEADLINE_MS);
});
afterEach(async () => {
  await pools.close();
  await smtp.close();
});

/** Its size isn't told, so that the deadline is that of a small mail. */
const send = (id: string, content: Buffer): Promise<Outcome> =>
  deliver({
    orgId: 'one',
    configuration: { host: '127.0.0.1', port: smtp.port, fromEmail: 'noreply@corp.example', tls: 'none' },
    messageBytes: 0,
    message: (signal) => ({
      messageId: `<${id}@corp.example>`,
      signal,
      from: 'noreply@corp.example',
      to: 'to@example.com',
      text: 'hello',
      attachments: [{ filename: 'a.bin', content }],
    }),
  });

test.each<[string, string]>([
  ['stops reading in the middle of the message', 'stall'],
  ['reads so slowly that no step ever times out', 'sip'],
])(
  'a server that %s: unknown by the deadline, and meanwhile another mail goes out',
  async (_name, reply) => {
    const behaviour: Behaviour = (step, _line, count) =>
      step === 'CHUNK' && count === 1 ? reply : undefined;
    smtp.behave(behaviour);
    let isOver = false;
    const large = send('large', LARGE).finally(() => {
      isOver = true;
    });
    await waitFor(() => smtp.count('CHUNK') === 1, { what: 'the message' });
    expect([await send('small', Buffer.alloc(10)), isOver]).toEqual([{ state: 'sent', refused: [] }, false]);
    expect((await large).state).toBe('unknown');
    expect([smtp.count('DATA'), smtp.accepted.length]).toEqual([2, 1]);
    await waitFor(() => smtp.open() === 1, { what: 'the end of its connection' });
  },
  20_000,
);
