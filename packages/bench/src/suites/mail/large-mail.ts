import { setTimeout as delay } from 'node:timers/promises';
import { percentile, type SuiteOptions, type SuiteResult } from '../../suite.js';
import { prepare, sendUrl, type Setting } from './sends.js';
import { letter } from './submission.js';

const ATTACHMENT_BYTES = 25 * 1_048_576;
const LARGE_MAILS = 4;
const PROBE_EVERY_MS = 5;

/** Asks for something small until told to stop. @returns how long each answer took, in milliseconds. */
async function probe(url: string, signal: AbortSignal): Promise<number[]> {
  const latencies: number[] = [];
  while (!signal.aborted) {
    const startedAt = performance.now();
    await (await fetch(url)).arrayBuffer();
    latencies.push(performance.now() - startedAt);
    await delay(PROBE_EVERY_MS);
  }
  return latencies;
}

async function sendLarge({ mail, token }: Setting, body: Buffer): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(sendUrl(mail), { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`a large mail was answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

/** How long another request waits while a mail with 25 MiB of attachments is taken and sent. */
export async function measureLargeMail({ progress }: SuiteOptions): Promise<SuiteResult> {
  progress('starting identity, mail and the sink');
  const setting = await prepare();
  try {
    const content = Buffer.alloc(ATTACHMENT_BYTES, 'attachment').toString('base64');
    const attachments = [{ filename: 'large.bin', content, contentType: 'application/octet-stream' }];
    const body = Buffer.from(JSON.stringify({ ...letter, attachments }));
    await sendLarge(setting, body);
    progress(`${LARGE_MAILS} mails of 25 MiB`);
    const stop = new AbortController();
    const probing = probe(`${setting.mail.url}/health/live`, stop.signal);
    const startedAt = performance.now();
    for (let count = 0; count < LARGE_MAILS; count += 1) await sendLarge(setting, body);
    const largeMs = (performance.now() - startedAt) / LARGE_MAILS;
    stop.abort();
    const latencies = await probing;
    return {
      figures: [
        { name: 'large_mail', value: largeMs, unit: 'ms', note: 'a mail with 25 MiB of attachments' },
        {
          name: 'beside_large_p99',
          value: percentile(latencies, 0.99),
          unit: 'ms',
          note: 'another request meanwhile',
        },
      ],
      ratios: [
        {
          name: 'large_mail_stall_ms',
          value: Math.max(...latencies),
          goal: { max: 100 },
          note: 'the slowest answer to another request meanwhile',
        },
      ],
    };
  } finally {
    await setting.stop();
  }
}
