import { toNetwork } from './network.js';

const site = { ipv4: 24, ipv6: 48 } as const;
const client = { ipv4: 32, ipv6: 64 } as const;

test.each([
  ['192.0.2.77', '192.0.2.0/24', '192.0.2.77/32'],
  ['::ffff:192.0.2.1', '192.0.2.0/24', '192.0.2.1/32'],
  ['2001:db8:abcd:12::1', '2001:db8:abcd::/48', '2001:db8:abcd:12::/64'],
  ['2001:0DB8:ABCD:0000:0000:0000:0000:0001', '2001:db8:abcd::/48', '2001:db8:abcd:0::/64'],
  ['2001:db8::1', '2001:db8:0::/48', '2001:db8:0:0::/64'],
  ['::1', '0:0:0::/48', '0:0:0:0::/64'],
  ['1::', '1:0:0::/48', '1:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0::/48', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0::/48', 'fe80:0:0:0::/64'],
  ['not an address', 'unknown', 'unknown'],
])('toNetwork converts %s to the site %s and the client %s', (address, ofSite, ofClient) => {
  expect(toNetwork(address, site)).toBe(ofSite);
  expect(toNetwork(address, client)).toBe(ofClient);
});

test.each([
  ['2001:db8:abcd:12ff::1', '2001:db8:abcd:1200::/56'],
  ['2001:db8:abcd:12::1', '2001:db8:abcd:0::/56'],
  ['192.0.2.77', '192.0.2.77/32'],
])('toNetwork converts %s to the home %s', (address, ofHome) => {
  expect(toNetwork(address, { ipv4: 32, ipv6: 56 })).toBe(ofHome);
});
