import { connectorNames } from '#text/connectors';
import type { ReactNode } from 'react';
import {
  BookIcon,
  BoxIcon,
  ChatIcon,
  CloudIcon,
  CodeIcon,
  CrawlIcon,
  DeskIcon,
  FolderIcon,
  GridIcon,
  IssueIcon,
  MailIcon,
  TableIcon,
} from './icons.tsx';

/** The icon of each kind of connector: an identifier is the kind and a number. */
const icons: Readonly<Record<string, () => ReactNode>> = {
  mail: MailIcon,
  files: FolderIcon,
  wiki: BookIcon,
  chat: ChatIcon,
  issues: IssueIcon,
  suite: GridIcon,
  code: CodeIcon,
  objects: BoxIcon,
  cloud: CloudIcon,
  db: TableIcon,
  support: DeskIcon,
};

const DEFAULT_INSTANCE = 'default';

interface Instance {
  readonly connector: string;
  readonly instance: string;
}

/** Names an instance of a connector in addresses: by the connector, and by the instance where it is another than the first. */
export const toConnectorKey = ({ connector, instance }: Instance): string =>
  instance === DEFAULT_INSTANCE ? connector : `${connector}:${instance}`;

/** Returns the path parameters of the API for a key. */
export function readConnectorKey(key: string): Instance {
  const [connector = '', instance = DEFAULT_INSTANCE] = key.split(':');
  return { connector, instance };
}

/** Returns what an instance of a connector is called, by its key; the identifiers if the catalogue lacks it. */
export function getConnectorName(key: string, displayName?: string | null): string {
  const { connector, instance } = readConnectorKey(key);
  const name = connectorNames[connector] ?? connector;
  return displayName ?? (instance === DEFAULT_INSTANCE ? name : `${name} (${instance})`);
}

export const getConnectorIcon = (key: string): (() => ReactNode) =>
  icons[readConnectorKey(key).connector.replace(/_\d+$/, '')] ?? CrawlIcon;

interface ConnectorNameProps extends Instance {
  readonly displayName?: string | null;
}

/** The icon and the name of an instance of a connector. */
export function ConnectorName({ displayName, ...instance }: ConnectorNameProps) {
  const key = toConnectorKey(instance);
  const Icon = getConnectorIcon(key);
  return (
    <span className="connector" title={key}>
      <Icon />
      <span className="strong">{getConnectorName(key, displayName)}</span>
    </span>
  );
}
