import { toDigest } from '@platform/auth';
import Bowser from 'bowser';
import type { FastifyRequest } from 'fastify';
import { toNetwork } from '../network.js';

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

/** A person's site: moving within it doesn't make a new device. A /48 is what a site gets (RFC 6177). */
export const SITE_PREFIX = { ipv4: 24, ipv6: 48 } as const;
const MAX_USER_AGENT_LENGTH = 512;
const MAX_FAMILY_LENGTH = 60;

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
export const describeRequest = (client: Pick<ClientAddress, 'address' | 'userAgent'>, at: Date) => ({
  time: describeTime(at),
  device: toDeviceName(client.userAgent),
  ipAddress: client.address.slice(0, 64),
});

/** Returns the stored id of a device: a digest of its network and name. */
export const toDeviceId = (client: Pick<ClientAddress, 'address' | 'userAgent'>): string =>
  toDigest(`${toNetwork(client.address, SITE_PREFIX)} ${toDeviceName(client.userAgent)}`);
