import { request } from 'node:http';
import { readDockerHost } from './environment.js';

/** Returns whether a Docker engine answers at once, without waiting for a slow or missing one. */
export async function isDockerAnswering(timeoutMs = 1_000): Promise<boolean> {
  const host = new URL(readDockerHost());
  const target =
    host.protocol === 'unix:'
      ? { socketPath: host.pathname }
      : { host: host.hostname, port: host.port || 2375 };
  return new Promise((resolve) => {
    const ping = request({ ...target, path: '/_ping', timeout: timeoutMs, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    ping.once('timeout', () => ping.destroy(new Error('timeout')));
    ping.once('error', () => resolve(false));
    ping.end();
  });
}
