import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns the domain in lower-case ASCII, as e-mail addresses are stored; undefined when the text is none. */
export function readDomain(text: string): string | undefined {
  const trimmed = text.trim().replace(/\.$/, '');
  // The conversion cuts off what could be the path of a URL.
  const domain = /^[\p{L}\p{M}\p{N}.-]+$/u.test(trimmed) ? domainToASCII(trimmed).toLowerCase() : '';
  const labels = domain.split('.');
  const isDomain = labels.length > 1 && domain.length <= 253 && labels.every((label) => LABEL.test(label));
  return isDomain && isIP(domain) === 0 && !/^\d+$/.test(labels.at(-1) ?? '') ? domain : undefined;
}

/** Returns the domain of a normalised e-mail address. */
export const getDomain = (email: string): string => email.slice(email.lastIndexOf('@') + 1);

/** Returns the DNS record that proves the control of a domain. */
export const toRecord = (domain: string, challenge: string) => ({
  name: `_workspace-platform.${domain}`,
  value: `domain-verification=${challenge}`,
});
