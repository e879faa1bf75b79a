import { isIP } from 'node:net';
import { isLoopbackHost } from '@platform/auth';

/** The site that passkeys are bound to (WebAuthn §5.1.2): no page of another site can create or use one for it. */
export interface RelyingParty {
  /** A host name. */
  readonly id: string;
  /** The only origin that may make and use passkeys. */
  readonly origin: string;
}

/**
 * Returns the relying party of the address at which browsers reach the platform; undefined when there can be none:
 * passkeys need a host name, and HTTPS but for this machine. A loopback address stands for `localhost`.
 */
export function toRelyingParty(publicUrl: string): RelyingParty | undefined {
  const url = new URL(publicUrl);
  const isAddress = isIP(url.hostname) !== 0 || url.hostname.startsWith('[');
  if (isLoopbackHost(url.hostname)) {
    if (isAddress) url.hostname = 'localhost';
    return { id: url.hostname, origin: url.origin };
  }
  return url.protocol === 'https:' && !isAddress ? { id: url.hostname, origin: url.origin } : undefined;
}
