import { toDeviceId, toDeviceName } from './client.js';

const firefox = (version: number) =>
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`;

test.each([
  [firefox(140), 'Firefox on Windows'],
  ['curl/8.5.0', 'curl'],
  ['node', 'node'],
  ['', 'unknown'],
  [undefined, 'unknown'],
  ['💥', 'unknown'],
])('toDeviceName converts %j to %s', (userAgent, family) => {
  expect(toDeviceName(userAgent)).toBe(family);
});

test('the device id stays the same for a new version in the same network, and differs for another program or network', () => {
  const known = toDeviceId({ address: '192.0.2.1', userAgent: firefox(140) });
  expect(toDeviceId({ address: '192.0.2.250', userAgent: firefox(141) })).toBe(known);
  expect(toDeviceId({ address: '192.0.3.1', userAgent: firefox(140) })).not.toBe(known);
  expect(toDeviceId({ address: '192.0.2.1', userAgent: 'curl/8.5.0' })).not.toBe(known);
});

test('parses a hostile user agent quickly', () => {
  // Processor time, which other work on the machine doesn't change.
  const before = process.cpuUsage();
  for (const part of ['(', 'Mozilla/5.0 ', ' ', 'a'.repeat(50), 'version/1.'])
    toDeviceName(part.repeat(20_000 / part.length));
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(200);
});
