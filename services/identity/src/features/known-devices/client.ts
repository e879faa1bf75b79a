import { isIPv4, isIPv6 } from 'node:net';
import { toDigest } from '@platform/auth';
import Bowser from 'bowser';
import type { FastifyRequest } from 'fastify';

/** The client that sent a request, as far as the connection and its headers tell. */
export interface ClientAddress {
  readonly address: string;
  readonly userAgent: string | undefined;
  /** Whether the request came from this machine without passing a gateway, so not from a person's browser. */
  readonly isLocal: boolean;
  /** The `x-request-id` of the request. */
  readonly requestId: string;
}

/** Matches 127.0.0.0/8, also as IPv4-mapped IPv6, and ::1. */
const loopback = /^(?:::1|(?:::ffff:)?127\.\d+\.\d+\.\d+)$/i;

export const getClient = ({
  id,
  ip,
  headers,
  socket,
}: Pick<FastifyRequest, 'id' | 'ip' | 'headers' | 'socket'>): ClientAddress => ({
  address: ip,
  isLocal: headers['x-forwarded-for'] === undefined && loopback.test(socket.remoteAddress ?? ''),
  userAgent: headers['user-agent'],
  requestId: id,
});

/** The first three hextets, a /48, are the network of a site (RFC 6177). */
const IPV6_GROUPS = 3;
const MAX_USER_AGENT_LENGTH = 512;
const MAX_FAMILY_LENGTH = 60;

function expandIpv6(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const front = head === '' ? [] : head.split(':');
  if (tail === undefined) return front;
  const back = tail === '' ? [] : tail.split(':');
  return [...front, ...Array.from({ length: 8 - front.length - back.length }, () => '0'), ...back];
}

/** Returns the /24 of an IPv4 address or the /48 of an IPv6 address: moving within it doesn't make a new device. */
export function toNetwork(address: string): string {
  const bare = address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIPv4(bare)) return `${bare.split('.').slice(0, 3).join('.')}.0/24`;
  if (!isIPv6(bare)) return 'unknown';
  // The URL parser converts every notation of an address to one, including those with an IPv4 tail.
  const canonical = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  return `${expandIpv6(canonical).slice(0, IPV6_GROUPS).join(':')}::/48`;
}

/** Returns the program's name without its version, and the operating system, such as "Firefox on Windows". */
export function toDeviceName(userAgent: string | undefined): string {
  const text = userAgent?.slice(0, MAX_USER_AGENT_LENGTH).trim();
  if (!text) return 'unknown';
  const { browser, os } = Bowser.parse(text);
  // Programs other than browsers put their name first: `curl/8.5.0`.
  const name = browser.name || (/^[\w.-]+/.exec(text)?.[0] ?? 'unknown');
  return (os.name ? `${name} on ${os.name}` : name).slice(0, MAX_FAMILY_LENGTH);
}

/** Formats a time to the minute, which is precise enough for a person to recognise it. */
const describeTime = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Describes when and from where a request came, for use in a mail. */
export const describeRequest = (client: ClientAddress, at: Date) => ({
  time: describeTime(at),
  device: toDeviceName(client.userAgent),
  ipAddress: client.address.slice(0, 64),
});

/** Returns the stored id of a device: a digest of its network and name. */
export const toDeviceId = (client: Pick<ClientAddress, 'address' | 'userAgent'>): string =>
  toDigest(`${toNetwork(client.address)} ${toDeviceName(client.userAgent)}`);
