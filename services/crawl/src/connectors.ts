/** Every connector (section 2.6 of the specification); each has its own queue. */
export const connectors = [
  'mail_1', 'mail_2', 'files_1', 'files_2', 'files_3', 'files_4', 'files_5', 'wiki_1', 'chat_1', 'issues_1',
  'issues_2', 'suite_1', 'code_1', 'objects_1', 'cloud_1', 'db_1', 'support_1', 'support_2',
] as const; // prettier-ignore
export type Connector = (typeof connectors)[number];

const known: ReadonlySet<string> = new Set(connectors);

/** Case doesn't count, spaces are dropped. @returns undefined for an unknown connector. */
export function canonicalConnector(given: string): Connector | undefined {
  const name = given.replaceAll(/\s/g, '').toLowerCase();
  return known.has(name) ? (name as Connector) : undefined;
}

/** BullMQ's queue, and the name of each of its jobs. */
export const queueNameOf = (connector: Connector): string => `crawl-${connector}`;

/** What a status item shows as its id, and BullMQ's job scheduler id. */
export const jobKeyOf = (connector: Connector, orgId: string): string =>
  `crawl-${connector.replaceAll('_', '-')}-${orgId}`;
