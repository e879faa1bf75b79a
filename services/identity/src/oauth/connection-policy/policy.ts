import { DAY_MS } from '@platform/service-kit';

/* Pure rules: which applications an organisation lets its members connect. */

export const clientKinds = ['application', 'document', 'registered'] as const;

export const connectableByOptions = ['members', 'administrators'] as const;

export interface ConnectionPolicy {
  /** The kinds of clients that may connect. */
  readonly clientKinds: readonly string[];
  /** The hosts, among the operator's allowed ones, whose documents describe clients that may connect; empty for all. */
  readonly hosts: readonly string[];
  /** Further hosts whose documents describe clients that may connect. */
  readonly additionalHosts: readonly string[];
  /** The members who may connect an application. */
  readonly connectableBy: string;
  /** The longest lifetime of a connection in days; null for that of the platform. */
  readonly maxLifetimeDays: number | null;
}

export const DEFAULT_CONNECTION_POLICY: ConnectionPolicy = {
  clientKinds,
  hosts: [],
  additionalHosts: [],
  connectableBy: 'members',
  maxLifetimeDays: null,
};

/** Returns the host of a client that its document describes; null for any other client. */
const getDocumentHost = (kind: string, clientId: string): string | null =>
  kind === 'document' ? new URL(clientId).hostname : null;

/** @returns when a connection ends at the latest, in milliseconds since the epoch. */
export const getLatestEnd = ({ maxLifetimeDays }: ConnectionPolicy, createdAt: number): number =>
  maxLifetimeDays === null ? Number.POSITIVE_INFINITY : createdAt + maxLifetimeDays * DAY_MS;

export const connectionBreaches = ['client_kind', 'host', 'member', 'lifetime'] as const;
export type ConnectionBreach = (typeof connectionBreaches)[number];

/** An existing connection of a member, or a requested one. */
export interface Connection {
  readonly clientId: string;
  readonly kind: string;
  /** The role of the member. */
  readonly role: string;
  readonly createdAt: Date;
}

const isAllowedHost = (
  { hosts, additionalHosts }: ConnectionPolicy,
  host: string,
  clientHosts: readonly string[],
): boolean =>
  additionalHosts.includes(host) ||
  (clientHosts.includes(host) && (hosts.length === 0 || hosts.includes(host)));

/**
 * Returns what the policy does not allow about the connection.
 *
 * @param clientHosts - the hosts of documents that the operator allows.
 */
export function findConnectionBreaches(
  policy: ConnectionPolicy,
  { clientId, kind, role, createdAt }: Connection,
  { now, clientHosts }: { readonly now: number; readonly clientHosts: readonly string[] },
): ConnectionBreach[] {
  const host = getDocumentHost(kind, clientId);
  return [
    ...(policy.clientKinds.includes(kind) ? [] : (['client_kind'] as const)),
    ...(host === null || isAllowedHost(policy, host, clientHosts) ? [] : (['host'] as const)),
    ...(policy.connectableBy === 'members' || role === 'admin' ? [] : (['member'] as const)),
    ...(now < getLatestEnd(policy, createdAt.getTime()) ? [] : (['lifetime'] as const)),
  ];
}
