import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 5;

/*
 * Asks for something small until standard input ends, and prints how long each answer took, in ms, as JSON. A process of
 * its own: the pauses of what sends the load are not the server's.
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
