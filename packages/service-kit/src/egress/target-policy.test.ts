import { createTargetPolicy } from './target-policy.js';
import { parseTarget, type RangeTarget, type Target } from './target.js';

const targets = (...texts: string[]) => texts.map((text) => parseTarget(text) as Target);
const createPolicy = (allowed: string[] = [], denied: string[] = []) =>
  createTargetPolicy({
    allowed: targets(...allowed),
    denied: targets(...denied) as RangeTarget[],
    ports: [25, 465, 587],
  });

// oxfmt-ignore
test.each([
  '127.0.0.1', '127.255.0.9', '0.0.0.0', '0.1.2.3', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1',
  '100.64.0.1', '169.254.169.254', '169.254.1.1', '168.63.129.16', '100.100.100.200', '192.0.2.1', '198.18.0.1',
  '224.0.0.1', '255.255.255.255', '::', '::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::FFFF:a9fe:a9fe', '::10.0.0.1',
  '64:ff9b::10.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::a00:1', '2002:a00:1::', '2001::1', '2001:db8::1', 'fc00::1',
  'fd00:ec2::254', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '100::1', 'not-an-address', '',
])('%s is denied by default', (address) => {
  expect(createPolicy().allows('mail.example', address, 587)).toBe(false);
});

test.each(['198.41.0.4', '9.9.9.9', '2606:4700::1', '::ffff:9.9.9.9', '64:ff9b::9.9.9.9'])(
  'the public address %s is allowed on the SMTP ports only',
  (address) => {
    const policy = createPolicy();
    expect([25, 587, 6_379, 22].map((port) => policy.allows('mail.example', address, port))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  },
);

test('a public address is allowed on every port when the ports are not limited', () => {
  const policy = createTargetPolicy({ allowed: [], denied: [], ports: 'any' });
  expect([443, 8_443].map((port) => policy.allows('kb.example', '9.9.9.9', port))).toEqual([true, true]);
  expect(policy.allows('kb.example', '10.0.0.1', 443)).toBe(false);
});

test('the narrowest range decides, and a denial wins over an equal permission', () => {
  const policy = createPolicy(
    ['10.0.0.0/8', '10.2.0.0/16:25', '10.1.2.3', '9.9.9.9:2500', 'fd00::/8', '127.0.0.0/8'],
    ['10.1.0.0/16', '9.9.9.0/24', '127.0.0.0/8'],
  );
  const allows = (address: string, port = 587) => policy.allows('mail.example', address, port);
  expect(allows('10.3.0.1')).toBe(true);
  expect(allows('10.3.0.1', 6_379)).toBe(true);
  expect(allows('10.1.0.1')).toBe(false);
  expect(allows('10.1.2.3')).toBe(true);
  expect(allows('::ffff:10.1.0.1')).toBe(false);
  expect(allows('9.9.9.9')).toBe(false);
  expect(allows('9.9.9.9', 2_500)).toBe(true);
  expect(allows('fd12::1')).toBe(true);
  expect(allows('fd00:ec2::254')).toBe(false);
  expect(allows('127.0.0.1')).toBe(false);
});

test('an allowed address stays allowed when everything is denied', () => {
  const policy = createPolicy(['198.41.0.4'], ['0.0.0.0/0', '::/0']);
  expect(
    ['198.41.0.4', '9.9.9.9', '2606:4700::1'].map((one) => policy.allows('a.example', one, 587)),
  ).toEqual([true, false, false]);
});

test('an allowed host name may resolve to any address, on its port', () => {
  const policy = createPolicy(['relay.mail.svc:25', 'catcher']);
  expect(policy.allows('Relay.Mail.svc', '10.0.0.7', 25)).toBe(true);
  expect(policy.allows('relay.mail.svc', '10.0.0.7', 587)).toBe(false);
  expect(policy.allows('other.mail.svc', '10.0.0.7', 25)).toBe(false);
  expect(policy.allows('catcher', '172.30.0.4', 1_025)).toBe(true);
});

test.each([
  ['10.0.0.0/8', { kind: 'range', address: '10.0.0.0', family: 4, prefix: 8, port: undefined }],
  ['10.0.0.1:25', { kind: 'range', address: '10.0.0.1', family: 4, prefix: 32, port: 25 }],
  ['fd00::/8', { kind: 'range', address: 'fd00::', family: 6, prefix: 8, port: undefined }],
  ['[fd00::/8]:25', { kind: 'range', address: 'fd00::', family: 6, prefix: 8, port: 25 }],
  ['Relay.example:2525', { kind: 'name', name: 'relay.example', port: 2_525 }],
  ['10.0.0.0/33', undefined],
  ['10.0.0', undefined],
  ['0x7f.1', undefined],
  ['relay.example:0', undefined],
  ['relay.example:70000', undefined],
  ['http://relay', undefined],
  ['fe80::1%eth0', undefined],
])('parses the target %s', (text, expected) => {
  expect(parseTarget(text)).toEqual(expected);
});
