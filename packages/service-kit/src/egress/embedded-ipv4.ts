import ipaddr from 'ipaddr.js';

/** The prefixes of IPv4-mapped addresses (RFC 4291 §2.5.5.2) and of addresses that NAT64 translates (RFC 6052 §2.1). */
const prefixes = [
  [0, 0, 0, 0, 0, 0xff_ff],
  [0x64, 0xff_9b, 0, 0, 0, 0],
];

/** @returns the IPv4 address that is embedded in an IPv6 address, or undefined when there is none. */
export function findEmbeddedIpv4(address: string): string | undefined {
  if (address.includes('%') || !ipaddr.IPv6.isValid(address)) return undefined;
  const { parts: groups } = ipaddr.IPv6.parse(address);
  if (!prefixes.some((prefix) => prefix.every((group, index) => groups[index] === group))) return undefined;
  // oxfmt-ignore
  return groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]).join('.');
}
