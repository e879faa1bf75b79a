import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const EVERY_MS = 5;

/*
 * Asks `workerData` (a URL) for something small until it is told to stop, and posts how long each answer took, in ms. A
 * thread of its own: the pauses of what sends the load are not the server's.
 */
let isStopped = false;
parentPort?.once('message', () => (isStopped = true));
const latencies: number[] = [];
while (!isStopped) {
  const startedAt = performance.now();
  await (await fetch(workerData as string)).arrayBuffer();
  latencies.push(performance.now() - startedAt);
  await delay(EVERY_MS);
}
parentPort?.postMessage(latencies);
