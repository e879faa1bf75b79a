import { templates as t } from '#text/templates';
import { FilterBar, FilterToggle } from '../../ui/filters.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { MailFrame } from './mail-frame.tsx';

interface RenderedMailProps {
  readonly title: string;
  readonly mail: { readonly html: string; readonly text: string };
}

/** A mail in the theme and at the size that the person chooses. */
export function RenderedMail({ title, mail }: RenderedMailProps) {
  const { filters } = useFilters();
  return (
    <>
      <FilterBar>
        <FilterToggle
          label={t.theme}
          name="theme"
          options={[
            ['light', t.light],
            ['dark', t.dark],
          ]}
        />
        <FilterToggle
          label={t.size}
          name="size"
          options={[
            ['desk', t.desk],
            ['phone', t.phone],
            ['text', t.text],
          ]}
        />
      </FilterBar>
      {filters['size'] === 'text' ? (
        <pre className="mail-text" tabIndex={0} aria-label={t.text}>
          {mail.text}
        </pre>
      ) : (
        <MailFrame
          title={title}
          html={mail.html}
          isDark={filters['theme'] === 'dark'}
          isPhone={filters['size'] === 'phone'}
        />
      )}
    </>
  );
}
