import { isIPv6 } from 'node:net';

/** Splits an IPv6 address into its eight groups (RFC 4291 §2.2). */
function toGroups(address: string): number[] {
  // The canonical form has only hexadecimal groups, even for an address with an IPv4 tail.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail] = canonical.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = tail === undefined ? [] : Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...(tail ?? [])].map((group) => Number.parseInt(group, 16));
}

/** The prefixes of IPv4-mapped addresses (RFC 4291 §2.5.5.2) and of addresses that NAT64 translates (RFC 6052 §2.1). */
const prefixes = [
  [0, 0, 0, 0, 0, 0xff_ff],
  [0x64, 0xff_9b, 0, 0, 0, 0],
];

/** @returns the IPv4 address that is embedded in an IPv6 address, or undefined when there is none. */
export function findEmbeddedIpv4(address: string): string | undefined {
  if (!isIPv6(address) || address.includes('%')) return undefined;
  const groups = toGroups(address);
  if (!prefixes.some((prefix) => prefix.every((group, index) => groups[index] === group))) return undefined;
  return groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]).join('.'); // prettier-ignore
}
