import { toDigest } from '@platform/auth';
import Bowser from 'bowser';
import type { FastifyRequest } from 'fastify';
import { toNetwork } from '../network.js';

/** The client that sent a request, as the connection and its headers describe it. */
export interface ClientAddress {
  readonly address: string;
  /** Its first {@link MAX_USER_AGENT_LENGTH} characters: clients can send one of any length. */
  readonly userAgent: string | undefined;
  /** Whether the request came from this machine without passing a gateway, so not from a person's browser. */
  readonly isLocal: boolean;
  /** The `x-request-id` of the request. */
  readonly requestId: string;
}

export const MAX_USER_AGENT_LENGTH = 512;

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
  userAgent: headers['user-agent']?.slice(0, MAX_USER_AGENT_LENGTH),
  requestId: id,
});

/** A person's site: moving within it doesn't make a new device. A /48 is what a site gets (RFC 6177). */
export const SITE_PREFIX = { ipv4: 24, ipv6: 48 } as const;
const MAX_FAMILY_LENGTH = 60;

/** @returns the program's name without its version, and the operating system, as far as they are known. */
function parseDevice(userAgent: string | undefined): { readonly name?: string; readonly system?: string } {
  const text = userAgent?.trim();
  if (!text) return {};
  const { browser, os } = Bowser.parse(text);
  // Programs other than browsers put their name first: `curl/8.5.0`.
  const name = browser.name || /^[\w.-]+/.exec(text)?.[0];
  return { ...(name && { name }), ...(os.name && { system: os.name }) };
}

/** Returns the device's name, such as "Firefox on Windows". */
export function toDeviceName(userAgent: string | undefined): string {
  const { name = 'unknown', system } = parseDevice(userAgent);
  return (system ? `${name} on ${system}` : name).slice(0, MAX_FAMILY_LENGTH);
}

/** Describes a device in any language, such as "Firefox (Windows)"; an unknown one is empty. */
function describeDevice(userAgent: string | undefined): string {
  const { name, system } = parseDevice(userAgent);
  return (name && system ? `${name} (${system})` : (name ?? system ?? '')).slice(0, MAX_FAMILY_LENGTH);
}

/** Describes when and from where a request came, for use in a mail, whose language has words for the time. */
export const describeRequest = (client: Pick<ClientAddress, 'address' | 'userAgent'>, at: Date) => ({
  time: at.toISOString(),
  device: describeDevice(client.userAgent),
  ipAddress: client.address.slice(0, 64),
});

/** Returns the stored id of a device: a digest of its network and name. */
export const toDeviceId = (client: Pick<ClientAddress, 'address' | 'userAgent'>): string =>
  toDigest(`${toNetwork(client.address, SITE_PREFIX)} ${toDeviceName(client.userAgent)}`);
