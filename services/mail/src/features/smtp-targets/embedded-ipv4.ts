import { isIPv6 } from 'node:net';

/** The eight groups of an IPv6 address (RFC 4291 §2.2). */
function toGroups(address: string): number[] {
  // In the canonical form, which has hexadecimal groups only.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail] = canonical.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = tail === undefined ? [] : Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...(tail ?? [])].map((group) => Number.parseInt(group, 16));
}

/** Of IPv4-mapped addresses (RFC 4291 §2.5.5.2), and of those that NAT64 translates (RFC 6052 §2.1). */
const prefixes = [
  [0, 0, 0, 0, 0, 0xff_ff],
  [0x64, 0xff_9b, 0, 0, 0, 0],
];

/** @returns the IPv4 address that an IPv6 address leads to, if it is of such a kind. */
export function embeddedIpv4(address: string): string | undefined {
  if (!isIPv6(address) || address.includes('%')) return undefined;
  const groups = toGroups(address);
  if (!prefixes.some((prefix) => prefix.every((group, index) => groups[index] === group))) return undefined;
  return groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]).join('.'); // prettier-ignore
}
