import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** @throws an error with the code of `node:dns` when the host has no address, or none is known in time. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

/** How long a name server may take for its first answer; the second try has twice as long. */
const QUERY_TIMEOUT_MS = 3_000;
const QUERY_TRIES = 2;

const toAddress = (address: string): LookupAddress => ({ address, family: isIP(address) });

const getLines = (text: string): string[][] =>
  text.split('\n').map((line) => line.replace(/[#;].*/, '').trim().split(/\s+/)); // prettier-ignore

/** hosts(5) */
function findInHosts(text: string, host: string): LookupAddress[] {
  const found = getLines(text).filter(
    ([address = '', ...names]) =>
      isIP(address) !== 0 && names.some((name) => name.toLowerCase() === host.toLowerCase()),
  );
  return found.map(([address = '']) => toAddress(address));
}

/** resolv.conf(5): the names that the system would ask for, in its order. */
function toCandidates(text: string, host: string): string[] {
  if (host.endsWith('.')) return [host];
  const lines = getLines(text);
  const domains = lines.findLast(([key]) => key === 'search' || key === 'domain')?.slice(1) ?? [];
  const options = lines.flatMap(([key, ...values]) => (key === 'options' ? values : []));
  const minDots = Number(options.findLast((option) => option.startsWith('ndots:'))?.slice(6) ?? 1);
  const searched = domains.map((domain) => `${host}.${domain}`);
  return host.split('.').length > minDots ? [host, ...searched] : [...searched, host];
}

/** IPv4 comes first: where IPv6 leads no further than the local network, a connection over it would hang. */
async function query(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = [ipv4, ipv6].flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
  return addresses.map(toAddress);
}

/**
 * Resolves the hosts of organisations without the system's resolver (`dns.lookup`), which has two threads: a zone whose
 * name servers don't answer holds one for as long as it likes, and with it everybody's lookups, this service's own among
 * them. Here each lookup waits by itself. The hosts file and the search domains are read as the system reads them, so
 * that names of containers and of Kubernetes services resolve.
 *
 * @param servers - the name servers, instead of the system's: for tests.
 */
export function createHostResolver(
  options: { readonly servers?: readonly string[]; readonly hostsFile?: string; readonly configurationFile?: string } = {},
): ResolveHost {
  const { servers, hostsFile = '/etc/hosts', configurationFile = '/etc/resolv.conf' } = options;
  const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
  return async (host, signal) => {
    if (isIP(host) !== 0) return [toAddress(host)];
    const known = findInHosts(await read(hostsFile), host);
    if (known.length > 0) return known;
    // A new one each time: it knows the name servers of the present network, and can be cancelled by itself.
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
} // prettier-ignore
