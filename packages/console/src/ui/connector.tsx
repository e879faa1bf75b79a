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

/** Returns what a connector is called; its identifier if the catalogue lacks it. */
export const getConnectorName = (connector: string): string => connectorNames[connector] ?? connector;

export const getConnectorIcon = (connector: string): (() => ReactNode) =>
  icons[connector.replace(/_\d+$/, '')] ?? CrawlIcon;

/** The icon and the name of a connector. */
export function ConnectorName({ connector }: { connector: string }) {
  const Icon = getConnectorIcon(connector);
  return (
    <span className="connector" title={connector}>
      <Icon />
      <span className="strong">{getConnectorName(connector)}</span>
    </span>
  );
}
