import ipaddr from 'ipaddr.js';

export interface PrefixLengths {
  readonly ipv4: 24 | 32;
  readonly ipv6: 48 | 56 | 64;
}

/**
 * Returns the network of an address, such as `192.0.2.0/24` or `2001:db8:0::/48`, or `unknown` when it isn't an address.
 * Devices are stored under a digest of it, so its form must not change.
 */
export function toNetwork(text: string, { ipv4, ipv6 }: PrefixLengths): string {
  if (!ipaddr.isValid(text)) return 'unknown';
  // Converts an IPv4-mapped IPv6 address to the IPv4 address.
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv6) {
    const groups = address.parts.slice(0, Math.ceil(ipv6 / 16));
    // The lower half of the last group is no part of a /56.
    if (ipv6 === 56) groups[3] = (groups[3] ?? 0) & 0xff_00;
    return `${groups.map((group) => group.toString(16)).join(':')}::/${ipv6}`;
  }
  return `${ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${ipv4}`).toString()}/${ipv4}`;
}
