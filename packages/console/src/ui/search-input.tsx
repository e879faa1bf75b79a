import { text } from '#text/shared';
import { Button as AriaButton, Input, SearchField } from 'react-aria-components';
import { CloseIcon, SearchIcon } from './icons.tsx';

interface SearchInputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** In a form: Enter searches, and does not send it. */
  readonly isInForm?: boolean;
}

/** A field that narrows down a list. */
export const SearchInput = ({ label, value, onChange, isInForm = false }: SearchInputProps) => (
  <SearchField aria-label={label} className="search" value={value} onChange={onChange}>
    <SearchIcon />
    <Input
      placeholder={label}
      onKeyDown={(event) => {
        if (isInForm && event.key === 'Enter') event.preventDefault();
      }}
    />
    <AriaButton className="button quiet" aria-label={text.close}>
      <CloseIcon />
    </AriaButton>
  </SearchField>
);
