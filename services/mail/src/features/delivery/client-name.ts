import { isIP } from 'node:net';

const isFullyQualified = (name: string): boolean =>
  isIP(name) === 0 && /^[\w-]+(?:\.[\w-]+)+$/.test(name) && !name.endsWith('.localhost');

/**
 * What an SMTP client says in EHLO (RFC 5321 §4.1.4): its full name, or an address literal where it has none. Servers
 * refuse a bare address, and distrust `localhost`.
 *
 * @param machineName - of the machine; of use only when it is a full name.
 */
export function defaultClientName(publicUrl: string, machineName: string): string {
  const host = new URL(publicUrl).hostname;
  if (isFullyQualified(host)) return host;
  if (isFullyQualified(machineName)) return machineName;
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) === 6) return `[IPv6:${address}]`;
  return isIP(address) === 4 ? `[${address}]` : '[127.0.0.1]';
}
