import { type Connector, isConnector } from '@platform/events';

/** Case doesn't count, spaces are dropped. @returns undefined for an unknown connector. */
export function canonicalConnector(given: string): Connector | undefined {
  const name = given.replaceAll(/\s/g, '').toLowerCase();
  return isConnector(name) ? name : undefined;
}

/** BullMQ's queue of a connector, and the name of each of its jobs. */
export const queueNameOf = (connector: Connector): string => `crawl-${connector}`;

/** What a status item shows as its id; BullMQ's job scheduler has it too. */
export const jobKeyOf = (connector: Connector, orgId: string): string =>
  `crawl-${connector.replaceAll('_', '-')}-${orgId}`;
