import { type Connector, DEFAULT_INSTANCE, isConnector } from '@platform/events';
import type { InstanceKey } from './instance-key.js';

/** The kind of source that each connector reads (CRAWL-2). */
export const connectorKinds: Readonly<Record<Connector, string>> = {
  mail_1: 'hosted mailbox',
  mail_2: 'hosted mailbox (second provider)',
  files_1: 'cloud file storage',
  files_2: 'cloud file storage (second)',
  files_3: 'team-site document storage',
  files_4: 'cloud file storage (third)',
  files_5: 'cloud file storage (fourth)',
  wiki_1: 'wiki',
  chat_1: 'team chat',
  issues_1: 'issue tracker',
  issues_2: 'issue tracker (second)',
  suite_1: 'collaboration suite',
  code_1: 'code hosting',
  objects_1: 'object storage',
  cloud_1: 'cloud storage account',
  db_1: 'spreadsheet database',
  support_1: 'ticketing',
  support_2: 'ticketing (second)',
};

/** Ignores case and spaces. @returns undefined for an unknown connector. */
export function canonicalConnector(given: string): Connector | undefined {
  const name = given.replaceAll(/\s/g, '').toLowerCase();
  return isConnector(name) ? name : undefined;
}

/** The name of a connector's queue in BullMQ, and of each job in it. */
export const toQueueName = (connector: Connector): string => `crawl-${connector}`;

/** The id of a status item. */
export const toJobKey = ({ connector, orgId, instance }: InstanceKey): string =>
  `crawl-${connector.replaceAll('_', '-')}-${orgId}${instance === DEFAULT_INSTANCE ? '' : `-${instance}`}`;
