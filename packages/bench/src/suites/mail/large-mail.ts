import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { percentile, type SuiteOptions, type SuiteResult } from '../../suite.js';
import { here } from './processes.js';
import { prepare, sendUrl, type Environment } from './sends.js';
import { letter } from './submission.js';

const ATTACHMENT_BYTES = 25 * 1_048_576;
const LARGE_MAILS = 4;

/** @returns a function that stops the probe and returns the latency of each answer, in milliseconds. */
function startProbing(url: string): () => Promise<number[]> {
  const probe = spawn(process.execPath, [here('probe.js'), url], { stdio: ['pipe', 'pipe', 'inherit'] });
  return async () => {
    probe.stdin.end();
    return JSON.parse(await text(probe.stdout)) as number[];
  };
}

async function sendLarge({ mail, token }: Environment, body: Buffer): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(sendUrl(mail), { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`a large mail failed with ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

/** Measures how long other requests wait while a mail with 25 MiB of attachments is accepted and sent. */
export async function measureLargeMail({ progress }: SuiteOptions): Promise<SuiteResult> {
  progress('starting identity, mail and the sink');
  const environment = await prepare();
  try {
    const content = Buffer.alloc(ATTACHMENT_BYTES, 'attachment').toString('base64');
    const attachments = [{ filename: 'large.bin', content, contentType: 'application/octet-stream' }];
    const body = Buffer.from(JSON.stringify({ ...letter, attachments }));
    await sendLarge(environment, body);
    progress(`${LARGE_MAILS} mails of 25 MiB`);
    const stopProbing = startProbing(`${environment.mail.url}/health/live`);
    const startedAt = performance.now();
    for (let count = 0; count < LARGE_MAILS; count += 1) await sendLarge(environment, body);
    const largeMs = (performance.now() - startedAt) / LARGE_MAILS;
    const latencies = await stopProbing();
    return {
      figures: [
        { name: 'large_mail', value: largeMs, unit: 'ms', note: 'a mail with 25 MiB of attachments' },
        {
          name: 'beside_large_p99',
          value: percentile(latencies, 0.99),
          unit: 'ms',
          note: 'other requests meanwhile',
        },
      ],
      ratios: [
        {
          name: 'large_mail_stall_ms',
          value: Math.max(...latencies),
          goal: { max: 100 },
          note: 'the slowest other request meanwhile',
        },
      ],
    };
  } finally {
    await environment.stop();
  }
}
