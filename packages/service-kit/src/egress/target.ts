import { isIP } from 'node:net';

/** An entry of an operator's list: a host name or a range of addresses. With a port, it applies to that port only. */
export type Target = NameTarget | RangeTarget;

export interface NameTarget {
  readonly kind: 'name';
  readonly name: string;
  readonly port: number | undefined;
}

export interface RangeTarget {
  readonly kind: 'range';
  readonly address: string;
  readonly family: 4 | 6;
  /** The length in bits; an address has 32 or 128. */
  readonly prefix: number;
  readonly port: number | undefined;
}

const hostName = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

/** Splits `host`, `host:port`, `[address]` or `[address]:port`. An IPv6 address without a port needs no brackets. */
function splitPort(text: string): { readonly host: string; readonly port: string | undefined } {
  const bracketed = /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(text);
  if (bracketed) return { host: bracketed[1] ?? '', port: bracketed[2] };
  const [, host, port] = /^([^:]*):(\d{1,5})$/.exec(text) ?? [];
  return host === undefined ? { host: text, port: undefined } : { host, port };
}

/** Parses a CIDR range, or an address: a range of one. @returns undefined when the text is neither. */
export function parseRange(text: string, port?: number): RangeTarget | undefined {
  const [address = '', prefixText, ...rest] = text.split('/');
  const family = isIP(address);
  if ((family !== 4 && family !== 6) || rest.length > 0 || address.includes('%')) return undefined;
  const bits = family === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? bits : /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : -1;
  return prefix < 0 || prefix > bits ? undefined : { kind: 'range', address, family, prefix, port };
}

/**
 * Parses a host name, an address or `address/prefix`, with `:port` or without; an IPv6 address with a port is bracketed.
 *
 * @returns undefined when the text is none of these, or the port is not 1 to 65535.
 */
export function parseTarget(text: string): Target | undefined {
  const { host, port: portText } = splitPort(text.toLowerCase());
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  const range = parseRange(host, port);
  if (range) return range;
  // A name whose last label is a number could be read as an IPv4 address in an unusual notation.
  return hostName.test(host) && !/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(host)
    ? { kind: 'name', name: host, port }
    : undefined;
}
