import type { ReactNode } from 'react';

export const icon = (path: ReactNode) =>
  function Icon() {
    return (
      <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
        {path}
      </svg>
    );
  };

export const MenuIcon = icon(<path d="M2 4h12M2 8h12M2 12h12" />);
export const MoreIcon = icon(<path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2" />);
export const SearchIcon = icon(<path d="M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm7 2-3.5-3.5" />);
export const ChevronIcon = icon(<path d="m4 6 4 4 4-4" />);
export const SortIcon = icon(<path d="M8 13V3m0 0L4.5 6.500M8 3l3.500 3.500" />);
export const CheckIcon = icon(<path d="m3 8.5 3.2 3L13 4.5" strokeWidth="2" />);
export const CloseIcon = icon(<path d="m4 4 8 8M12 4l-8 8" />);
export const PlusIcon = icon(<path d="M8 3v10M3 8h10" />);

export const HomeIcon = icon(<path d="M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4V7Z" />);
export const KeyIcon = icon(<path d="M5.5 13.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm2.1-5.1L13 3m-2.2 2.2 2 2" />);
export const PlugIcon = icon(<path d="M6 2v3m4-3v3M4 5h8v3a4 4 0 0 1-8 0V5Zm4 7v2" />);
export const AppsIcon = icon(
  <path d="M2.5 2.5H7V7H2.5zM9 2.5h4.5V7H9zM2.5 9H7v4.5H2.5zM11.250 9v4.500M9 11.250h4.500" />,
);
export const LinkIcon = icon(
  <path d="m6.500 9.500 3-3M7.500 4.500 8.600 3.400a2.800 2.800 0 0 1 4 4L11.500 8.500M8.500 11.500 7.400 12.600a2.800 2.800 0 0 1-4-4L4.500 7.500" />,
);
export const RobotIcon = icon(
  <path d="M5 5.5h6a2 2 0 0 1 2 2V11a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V7.5a2 2 0 0 1 2-2ZM8 2.5v3M6 9h.01M10 9h.01" />,
);
export const GridIcon = icon(<path d="M2.5 2.5H7V7H2.5zM9 2.5h4.5V7H9zM2.5 9H7v4.5H2.5zM9 9h4.5v4.5H9z" />);
export const CrawlIcon = icon(<path d="M13 8a5 5 0 0 1-9 3m-1-3a5 5 0 0 1 9-3m0-2.5V5H9.5M4 13.5V11h2.5" />);
export const BookIcon = icon(
  <path d="M8 4.2C6.8 3.3 5 3 2.500 3v9.500c2.500 0 4.300.3 5.500 1.200 1.200-.9 3-1.200 5.500-1.200V3C11 3 9.200 3.300 8 4.200Zm0 0v9.500" />,
);
export const MailIcon = icon(
  <path d="M3.5 3.5h9A1.5 1.5 0 0 1 14 5v6a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 2 11V5a1.5 1.5 0 0 1 1.5-1.5Zm-1 1.2L8 8.7l5.5-4" />,
);
export const ServerIcon = icon(<path d="M3 2.5h10v4.5H3zM3 9h10v4.5H3zM5.5 4.75h.01M5.5 11.25h.01" />);
export const PeopleIcon = icon(
  <path d="M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6Zm-4 5.6c.3-2.3 1.9-3.5 4-3.5s3.7 1.2 4 3.5M10.5 3.2a2.2 2.2 0 0 1 0 4.1m1.3 2.6c1.3.5 2.1 1.6 2.3 3.2" />,
);
export const LockIcon = icon(<path d="M4 7h8v6.5H4zM5.5 7V5a2.5 2.5 0 0 1 5 0v2M8 9.7v1.2" />);
export const ShieldIcon = icon(<path d="m8 2 5 2v3.6c0 3-2 5.2-5 6.4-3-1.2-5-3.4-5-6.400V4l5-2Z" />);
export const LogIcon = icon(<path d="M6 4h8M6 8h8M6 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01" />);
