import { BlockList, isIP } from 'node:net';
import { findEmbeddedIpv4 } from './embedded-ipv4.js';
import { type NameTarget, parseRange, type RangeTarget, type Target } from './target.js';

/**
 * Addresses outside the public Internet (IANA's registries of special-purpose addresses, RFC 6890). The metadata services
 * of cloud providers are listed one by one, so that allowing a range around one of them doesn't allow it.
 */
// oxfmt-ignore
const specialRanges = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24',
  '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24',
  '224.0.0.0/4', '240.0.0.0/4',
  '169.254.169.254/32', '100.100.100.200/32', '168.63.129.16/32', 'fd00:ec2::254/128',
  // Everything outside 2000::/3 (the global unicast addresses), and the special ranges inside it.
  '::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20',
];

interface Rule {
  readonly isAllowed: boolean;
  /** The rule with the greatest weight decides: the narrowest range, and for equal ranges a denial by the operator. */
  readonly weight: number;
  matches(address: string, family: 4 | 6, port: number): boolean;
}

function toRule(range: RangeTarget, isAllowed: boolean, weight: number): Rule {
  const type = range.family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(range.address, range.prefix, type);
  return {
    isAllowed,
    weight: range.prefix * 3 + weight,
    matches: (address, family, port) =>
      family === range.family &&
      (range.port === undefined || range.port === port) &&
      list.check(address, type),
  };
}

const isRange = (target: Target | undefined): target is RangeTarget => target?.kind === 'range';
const isName = (target: Target): target is NameTarget => target.kind === 'name';

/**
 * Creates a policy in which the narrowest range that contains an address decides. An address in no range is public, and
 * allowed on the given ports. A host name that the operator allows may resolve to any address.
 */
export function createTargetPolicy(options: {
  readonly allowed: readonly Target[];
  readonly denied: readonly RangeTarget[];
  /** The ports that are allowed at addresses in no range. */
  readonly ports: readonly number[] | 'any';
}) {
  const names = options.allowed.filter(isName);
  // oxfmt-ignore
  const rules = [
    ...specialRanges.map((range) => parseRange(range)).filter(isRange).map((range) => toRule(range, false, 0)),
    ...options.allowed.filter(isRange).map((range) => toRule(range, true, 1)),
    ...options.denied.map((range) => toRule(range, false, 2)),
  ].toSorted((a, b) => b.weight - a.weight);
  return {
    /**
     * @param host - the host in the configuration.
     * @param address - the resolved address that is about to be connected to.
     */
    allows(host: string, address: string, port: number): boolean {
      if (names.some((one) => one.name === host.toLowerCase() && (one.port ?? port) === port)) return true;
      // An IPv4 address inside an IPv6 address must not escape the rules for IPv4.
      const checked = findEmbeddedIpv4(address) ?? address;
      const family = isIP(checked);
      if ((family !== 4 && family !== 6) || checked.includes('%')) return false;
      const rule = rules.find(({ matches }) => matches(checked, family, port));
      return rule ? rule.isAllowed : options.ports === 'any' || options.ports.includes(port);
    },
  };
}

/** Decides which addresses and ports an organisation's configuration may make a service connect to. */
export type TargetPolicy = ReturnType<typeof createTargetPolicy>;
