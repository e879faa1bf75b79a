import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { time } from '../../load/load.js';
import { defineMeasurement, median, percentile } from '../../runner/measurement.js';
import { here, startSystem, waitUntilSent } from './environment.js';
import { letter } from './submission.js';

const ATTACHMENT_BYTES = 25 * 1_048_576;
const MAILS = 4;

/** @returns a function that stops the probe and returns the latency of each answer, in milliseconds. */
function startProbing(url: string): () => Promise<number[]> {
  const probe = spawn(process.execPath, [here('probe.js'), url], { stdio: ['pipe', 'pipe', 'inherit'] });
  return async () => {
    probe.stdin.end();
    return JSON.parse(await text(probe.stdout)) as number[];
  };
}

/** The default of prom-client: a loop without any delay is reported as this much. */
const LAG_RESOLUTION_MS = 10;

/** Returns for how long the server's event loop was busy with one turn at most since the call before, in milliseconds. */
async function readLongestTurn(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const seconds = /^nodejs_eventloop_lag_max_seconds\{.*\} (\S+)$/m.exec(metrics)?.[1];
  return Number(seconds) * 1_000 - LAG_RESOLUTION_MS;
}

export const largeMail = defineMeasurement({
  title: 'mails with 25 MiB of attachments, and other requests meanwhile',
  limitSeconds: 90,
  values: {
    large_mail_stall_ms: {
      bar: { max: 60 },
      unit: 'ms',
      note: 'the longest time for which large mails keep other requests of the service waiting',
    },
    beside_large_max: {
      unit: 'ms',
      note: 'the slowest other request, of a client that shares its core with the load',
    },
    beside_large_p99: { unit: 'ms', note: 'p99 of the other requests' },
    large_mail: { unit: 'ms', note: 'a mail with 25 MiB of attachments' },
  },
  async run(fixture) {
    const { mail, token, sink, useSink } = await fixture.share(startSystem);
    await useSink(sink.port);
    const content = Buffer.alloc(ATTACHMENT_BYTES, 'attachment').toString('base64');
    const attachments = [{ filename: 'large.bin', content, contentType: 'application/octet-stream' }];
    const body = Buffer.from(JSON.stringify({ ...letter, attachments }));
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const send = async (prefer = 'wait=60') => {
      const response = await fetch(mail.sendUrl, { method: 'POST', headers: { ...headers, prefer }, body });
      const answer = await response.text();
      if (!response.ok) throw new Error(`a large mail failed with ${response.status}: ${answer}`);
    };
    await send();
    await readLongestTurn(mail.url);
    const stopProbing = startProbing(`${mail.url}/health/live`);
    const tookMs: number[] = [];
    for (let count = 0; count < MAILS; count += 1) await time(tookMs, () => send());
    // Queued mails are stored and read again in pieces.
    for (let count = 0; count < MAILS; count += 1) await send('respond-async');
    await waitUntilSent(mail.databaseUrl);
    const latencies = await stopProbing();
    return {
      large_mail_stall_ms: await readLongestTurn(mail.url),
      beside_large_max: Math.max(...latencies),
      beside_large_p99: percentile(latencies, 0.99),
      large_mail: median(tookMs),
    };
  },
});
