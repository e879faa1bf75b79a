import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/**
 * Resolves a host to its addresses.
 *
 * @throws an error with a code of `node:dns` when the host has no address, or when the name servers don't answer in time.
 */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

/** The timeout of the first try. Node doubles it for the second one. */
const QUERY_TIMEOUT_MS = 3_000;
const QUERY_TRIES = 2;

const toAddress = (address: string): LookupAddress => ({ address, family: isIP(address) });

const getLines = (text: string): string[][] =>
  // oxfmt-ignore
  text.split('\n').map((line) => line.replace(/[#;].*/, '').trim().split(/\s+/));

/** Looks the host up in the format of hosts(5). */
function findInHosts(text: string, host: string): LookupAddress[] {
  const found = getLines(text).filter(
    ([address = '', ...names]) =>
      isIP(address) !== 0 && names.some((name) => name.toLowerCase() === host.toLowerCase()),
  );
  return found.map(([address = '']) => toAddress(address));
}

/** @returns the names that the system would query for the host according to resolv.conf(5), in the same order. */
function toCandidates(text: string, host: string): string[] {
  if (host.endsWith('.')) return [host];
  const lines = getLines(text);
  const domains = lines.findLast(([key]) => key === 'search' || key === 'domain')?.slice(1) ?? [];
  const options = lines.flatMap(([key, ...values]) => (key === 'options' ? values : []));
  const minDots = Number(options.findLast((option) => option.startsWith('ndots:'))?.slice(6) ?? 1);
  const searched = domains.map((domain) => `${host}.${domain}`);
  return host.split('.').length > minDots ? [host, ...searched] : [...searched, host];
}

/** Returns IPv4 addresses first, because connections over IPv6 hang on networks where IPv6 is only local. */
async function query(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = [ipv4, ipv6].flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
  return addresses.map(toAddress);
}

/**
 * Resolves the hosts that organisations configure without the system's resolver. `dns.lookup` runs in a small thread pool, where a
 * zone with unresponsive name servers would block the lookups of everybody, including this service's own. Here every
 * lookup waits independently. The hosts file and the search domains are honoured, so that names of containers and of
 * Kubernetes services resolve.
 *
 * @param options - replace the system's name servers and files. Tests set them.
 */
// oxfmt-ignore
export function createHostResolver(
  options: { readonly servers?: readonly string[]; readonly hostsFile?: string; readonly configurationFile?: string } = {},
): ResolveHost {
  const { servers, hostsFile = '/etc/hosts', configurationFile = '/etc/resolv.conf' } = options;
  const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
  return async (host, signal) => {
    if (isIP(host) !== 0) return [toAddress(host)];
    const known = findInHosts(await read(hostsFile), host);
    if (known.length > 0) return known;
    // A new resolver uses the current name servers, and can be cancelled without affecting other lookups.
    const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
    if (servers) resolver.setServers(servers);
    const cancel = (): void => {
      resolver.cancel();
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      let failure: unknown;
      for (const name of toCandidates(await read(configurationFile), host)) {
        signal.throwIfAborted();
        try {
          return await query(resolver, name);
        } catch (error) {
          failure = error;
        }
      }
      throw failure;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}
