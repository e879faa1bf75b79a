import { isIP } from 'node:net';

const isFullyQualified = (name: string): boolean =>
  isIP(name) === 0 && /^[\w-]+(?:\.[\w-]+)+$/.test(name) && !name.endsWith('.localhost');

/**
 * Chooses the name for EHLO (RFC 5321 §4.1.4): a fully qualified name, or else an address literal. Servers refuse a bare
 * address and distrust `localhost`.
 *
 * @param machineName - the host name of this machine, which is used only when it is fully qualified.
 */
export function defaultClientName(publicUrl: string, machineName: string): string {
  const host = new URL(publicUrl).hostname;
  if (isFullyQualified(host)) return host;
  if (isFullyQualified(machineName)) return machineName;
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) === 6) return `[IPv6:${address}]`;
  return isIP(address) === 4 ? `[${address}]` : '[127.0.0.1]';
}
