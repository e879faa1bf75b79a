import { isIPv4, isIPv6 } from 'node:net';
import { toDigest } from '@platform/auth';
import Bowser from 'bowser';
import type { FastifyRequest } from 'fastify';

/** Where a request came from, as the edge sees it. */
export interface ClientAddress {
  readonly address: string;
  readonly userAgent: string | undefined;
  /** Past every gateway, from this machine itself: no person at a browser. */
  readonly isLocal: boolean;
  /** The `x-request-id` of the request. */
  readonly requestId: string;
}

/** 127.0.0.0/8 and ::1, also as IPv6 writes IPv4. */
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

/** How many of the 128 bits are a network of its own: a site's (RFC 6177), of four hextets three. */
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

/** The /24 of an IPv4 address, the /48 of an IPv6 one: who moves inside it hasn't moved. */
export function toNetwork(address: string): string {
  const bare = address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIPv4(bare)) return `${bare.split('.').slice(0, 3).join('.')}.0/24`;
  if (!isIPv6(bare)) return 'unknown';
  // The URL standard writes every form of an address in one, an IPv4 tail included.
  const canonical = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  return `${expandIpv6(canonical).slice(0, IPV6_GROUPS).join(':')}::/48`;
}

/** The program's name without its version, and the system it runs on: "Firefox on Windows". */
export function toDeviceName(userAgent: string | undefined): string {
  const text = userAgent?.slice(0, MAX_USER_AGENT_LENGTH).trim();
  if (!text) return 'unknown';
  const { browser, os } = Bowser.parse(text);
  // What is no browser names itself first: `curl/8.5.0`.
  const name = browser.name || (/^[\w.-]+/.exec(text)?.[0] ?? 'unknown');
  return (os.name ? `${name} on ${os.name}` : name).slice(0, MAX_FAMILY_LENGTH);
}

/** Minutes are enough for whoever tries to remember. */
const describeTime = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** When and from where something was asked for, as a mail tells it. */
export const describeRequest = (client: ClientAddress, at: Date) => ({
  time: describeTime(at),
  device: toDeviceName(client.userAgent),
  ipAddress: client.address.slice(0, 64),
});

/** What is stored of it. */
export const toDeviceId = (client: Pick<ClientAddress, 'address' | 'userAgent'>): string =>
  toDigest(`${toNetwork(client.address)} ${toDeviceName(client.userAgent)}`);
