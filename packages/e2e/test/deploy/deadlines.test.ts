import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './kustomize.js';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Returns every number that a pattern captures, in milliseconds, and expects at least one. */
function allIn(file: string, pattern: RegExp, unitMs = 1): number[] {
  const found = [...read(file).matchAll(pattern)].map(
    ([, number = '']) => Number(number.replaceAll('_', '')) * unitMs,
  );
  expect([file, found.length > 0, found.every((value) => value > 0)]).toEqual([file, true, true]);
  return found;
}
const oneIn = (file: string, pattern: RegExp, unitMs = 1): number =>
  Math.min(...allIn(file, pattern, unitMs));

const SECOND = 1_000;
const overlays = ['dev', 'existing-services'];

test('a send times out before everything in front of it, and those timeouts are in order', () => {
  const send = oneIn('services/mail/src/config.ts', /MAX_SEND_DEADLINE_MS = ([\d_]+)/g);
  const shutdownFile = 'packages/service-kit/src/shutdown.ts';
  const phase = (name: string): number => oneIn(shutdownFile, new RegExp(`^ {2}${name}: ([\\d_]+)`, 'gm'));
  const tool = oneIn(
    'services/identity/src/config.ts',
    /MAIL_TOOL_TIMEOUT_MS: withDefault\(.*?\), ([\d_]+)\)/g,
  );
  const gateways = [
    oneIn('packages/local/src/gateway/proxy.ts', /ANSWER_TIMEOUT_MS = ([\d_]+)/g),
    oneIn('packages/config/gateway/nginx.conf.template', /proxy_read_timeout (\d+)s/g, SECOND),
    oneIn('k8s/components/gateway-api/route.yaml', /timeouts: \{ request: ([1-9]\d*)s \}/g, SECOND),
    ...overlays.map((one) =>
      oneIn(`k8s/overlays/${one}/kustomization.yaml`, /proxy-read-timeout: '(\d+)'/g, SECOND),
    ),
  ];
  expect(send).toBeLessThan(phase('http'));
  expect(send).toBeLessThan(tool);
  for (const gateway of gateways) expect(tool).toBeLessThan(gateway);
});

test('a process is killed only after all phases of its shutdown have timed out', () => {
  const shutdownFile = 'packages/service-kit/src/shutdown.ts';
  const phases = ['http', 'workers', 'flush', 'close'].map((name) =>
    oneIn(shutdownFile, new RegExp(`^ {2}${name}: ([\\d_]+)`, 'gm')),
  );
  const needed = phases.reduce((sum, one) => sum + one, 0);
  for (const service of ['identity', 'mail', 'crawl', 'crawl-worker']) {
    const file = `k8s/base/${service}.yaml`;
    const preStop = oneIn(file, /preStop: \{ sleep: \{ seconds: (\d+) \} \}/g, SECOND);
    const grace = oneIn(file, /^ {6}terminationGracePeriodSeconds: (\d+)/gm, SECOND);
    for (const overlay of [...overlays, 'production']) {
      const delay = oneIn(`k8s/overlays/${overlay}/kustomization.yaml`, /SHUTDOWN_DELAY_MS=(\d+)/g);
      expect(preStop + delay + needed).toBeLessThan(grace);
    }
  }
  expect(needed).toBeLessThan(oneIn('docker-compose.yml', /stop_grace_period: (120)s/g, SECOND));
});

test('npm start waits longer for a service to stop than a send takes', () => {
  const send = oneIn('packages/local/src/services.ts', /SEND_DEADLINE_MS: '(\d+)'/g);
  expect(send).toBeLessThan(oneIn('packages/local/src/service-process.ts', /STOP_TIMEOUT_MS = ([\d_]+)/g));
});

test('a gateway waits longer for a body than a service does, and long enough for every response', () => {
  const service = oneIn('packages/service-kit/src/http/app.ts', /REQUEST_TIMEOUT_MS = ([\d_]+)/g);
  expect(service).toBeLessThan(
    oneIn('packages/local/src/gateway/server.ts', /REQUEST_TIMEOUT_MS = ([\d_]+)/g),
  );
});
