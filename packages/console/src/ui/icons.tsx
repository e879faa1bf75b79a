import type { ReactNode } from 'react';

const icon = (path: ReactNode) =>
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
export const CheckIcon = icon(<path d="m3 8.5 3.2 3L13 4.5" strokeWidth="2" />);
export const CloseIcon = icon(<path d="m4 4 8 8M12 4l-8 8" />);
