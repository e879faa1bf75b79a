import { isIP, isIPv4 } from 'node:net';
import { type FaultDetail, validationError } from '@platform/service-kit';
import ipaddr from 'ipaddr.js';
import { Type } from 'typebox';

/*
 * An allow list names the CIDR ranges that a token may be used from. An empty list allows every address. Each
 * verification compares it with the address of the client, which the trusted proxies report.
 */

const MAX_RANGES = 20;
const MAX_RANGE_LENGTH = 64;

const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4_RANGE = `(${OCTET}[.]){3}${OCTET}(/(3[0-2]|[12]?[0-9]))?`;
const IPV6_RANGE = '(?=.*:.*:)[0-9a-fA-F:]+(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?';

export const AllowList = Type.Array(
  Type.String({
    maxLength: MAX_RANGE_LENGTH,
    'x-documented': { pattern: `^(${IPV4_RANGE}|${IPV6_RANGE})$` },
  }),
  {
    maxItems: MAX_RANGES,
    description:
      'The CIDR ranges that requests may come from, each by its first address, such as `203.0.113.0/24`. Empty: any address.',
  },
);

type Range = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

const isAddress = (text: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || (!text.includes('%') && ipaddr.IPv6.isValid(text));

/** @returns undefined unless the text is an address, or the first address of a range and its prefix length. */
export function parseRange(text: string): Range | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  if (rest.length > 0 || !isAddress(address)) return undefined;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) return undefined;
  const maxBits = parsed instanceof ipaddr.IPv6 ? 128 : 32;
  if (bits === undefined) return [parsed, maxBits];
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > maxBits) return undefined;
  const family = parsed instanceof ipaddr.IPv6 ? ipaddr.IPv6 : ipaddr.IPv4;
  const first = family.networkAddressFromCIDR(`${address}/${Number(bits)}`);
  return first.toString() === parsed.toString() ? [parsed, Number(bits)] : undefined;
}

const format = ([address, bits]: Range): string => `${address.toString()}/${bits}`;

/** @returns the ranges as they are stored. @throws AppError 400 that names each entry that is no range. */
export function readAllowList(list: readonly string[], field = 'allowList'): string[] {
  const faults: FaultDetail[] = [];
  const ranges = list.flatMap((text, index) => {
    const range = parseRange(text);
    if (range) return [format(range)];
    faults.push({
      field: `${field}.${index}`,
      message: 'must be a CIDR range such as 203.0.113.0/24 or 2001:db8::/32',
    });
    return [];
  });
  if (faults.length > 0) throw validationError(faults);
  return [...new Set(ranges)];
}

function isWithin(inner: string, outer: string): boolean {
  const [a, b] = [parseRange(inner), parseRange(outer)];
  if (!a || !b || a[0].kind() !== b[0].kind() || a[1] < b[1]) return false;
  return a[0].match(b[0], b[1]);
}

/** Returns whether everything that `list` allows is allowed by `current`. */
export const isNarrower = (list: readonly string[], current: readonly string[]): boolean =>
  current.length === 0 ||
  (list.length > 0 && list.every((range) => current.some((outer) => isWithin(range, outer))));

/** @returns the client's address as a range of that one address is written; null when it is unknown. */
export function toComparable(address: string | undefined): string | null {
  if (address === undefined || address.includes('%')) return null;
  if (isIPv4(address)) return address;
  const bare =
    address.toLowerCase().startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
  return isIP(bare) === 0 ? null : bare;
}
