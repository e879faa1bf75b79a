import type { ReactNode } from 'react';
import { getConnectorName, type Instance, readConnectorKey, toConnectorKey } from './connector-name.ts';
import { CrawlIcon, GridIcon, icon, MailIcon } from './icons.tsx';

const FolderIcon = icon(
  <path d="M2 4.5V12a1 1 0 0 0 1 1h10a1 1 0 0 0 1-1V6a1 1 0 0 0-1-1H8L6.5 3H3a1 1 0 0 0-1 1v.5Z" />,
);
const BookIcon = icon(
  <path d="M3 3.500A1.5 1.5 0 0 1 4.5 2H13v9.500H4.500A1.5 1.5 0 0 0 3 13m0-9.500V13m0 0a1 1 0 0 0 1 1h9v-2.5" />,
);
const ChatIcon = icon(<path d="M2.5 3.500h11v7.500H7.500L4.5 13.500V11h-2zM5.5 6.200h5M5.5 8.400h3" />);
const IssueIcon = icon(
  <path d="M8 13.500a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM8 5.200v3.300M8 10.800h.01" />,
);
const CodeIcon = icon(<path d="m5 4.5-3.5 3.500L5 11.500m6-7 3.5 3.500L11 11.500M9.2 3 6.8 13" />);
const BoxIcon = icon(
  <path d="m8 2 5.5 2.800v6.400L8 14l-5.5-2.800V4.800L8 2Zm0 5.7 5.5-2.900M8 7.7 2.5 4.800M8 7.700V14" />,
);
const CloudIcon = icon(<path d="M4.5 12.500h7a2.7 2.7 0 0 0 .4-5.4 4 4 0 0 0-7.7-.6 3 3 0 0 0 .3 6Z" />);
const TableIcon = icon(<path d="M2.5 3h11v10h-11zM2.5 6.300h11M2.5 9.600h11M6.5 3v10" />);
const DeskIcon = icon(
  <path d="M8 13.500a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11Zm0-3.300a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.400ZM4.1 4.100l2.3 2.300m3.2 3.2 2.3 2.300m0-7.800L9.6 6.400M6.4 9.600l-2.3 2.3" />,
);

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
