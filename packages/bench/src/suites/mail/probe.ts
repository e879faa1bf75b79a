import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 5;

/*
 * Requests a small resource until standard input ends, and prints the latencies in milliseconds as JSON. It runs in its
 * own process, so that pauses of the load generator are not counted as the server's.
 *
 *   node probe.js <url>
 */
const [url = ''] = process.argv.slice(2);
const end = new AbortController();
process.stdin.once('end', () => {
  end.abort();
});
process.stdin.resume();
const latencies: number[] = [];
while (!end.signal.aborted) {
  const startedAt = performance.now();
  await (await fetch(url)).arrayBuffer();
  latencies.push(performance.now() - startedAt);
  await delay(EVERY_MS);
}
process.stdout.write(JSON.stringify(latencies));
