import type { MailSchemas } from '@platform/clients/types';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mail, unwrap } from '../../api/client.ts';
import { text } from '../../text/index.ts';
import { SelectInput, TextInput } from '../../ui/fields.tsx';
import { FilterBar, FilterToggle } from '../../ui/filters.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { useSettled } from '../../ui/use-settled.ts';
import { MailFrame } from './mail-frame.tsx';
import { fieldsOf, type TemplateType, templateTypes } from './template-fields.ts';

const t = text.templates;

type Preview = MailSchemas['schemas']['PreviewBody'];

const load = (body: Preview, signal: AbortSignal) =>
  unwrap(mail.POST('/api/v1/mail/preview', { body, signal }));

export function TemplatePreview() {
  const { filters, setFilter } = useFilters();
  const type = templateTypes.find((known) => known === filters['template']) ?? 'appuserInvite';
  const [data, setData] = useState<Readonly<Record<string, string>>>(t.example);
  const templateData = Object.fromEntries(fieldsOf[type].map((field) => [field, data[field] ?? '']));
  const body = useSettled({ emailTemplateType: type, templateData });
  const query = useQuery({
    queryKey: ['mail-preview', body],
    queryFn: ({ signal }) => load(body, signal),
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <div className="columns preview-columns">
      <div className="form">
        <SelectInput<TemplateType>
          label={text.mails.template}
          value={type}
          options={templateTypes.map((known) => [known, t.types[known]])}
          onChange={(value) => setFilter('template', value)}
        />
        {fieldsOf[type].map((field) => (
          <TextInput
            key={field}
            label={t.fields[field]}
            value={data[field] ?? ''}
            onChange={(value) => setData((previous) => ({ ...previous, [field]: value }))}
          />
        ))}
      </div>
      <div>
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
        <QueryView query={query}>
          {(rendered) =>
            filters['size'] === 'text' ? (
              <pre className="mail-text" tabIndex={0} aria-label={t.text}>
                {rendered.text}
              </pre>
            ) : (
              <MailFrame
                title={t.types[type]}
                html={rendered.html}
                isDark={filters['theme'] === 'dark'}
                isPhone={filters['size'] === 'phone'}
              />
            )
          }
        </QueryView>
      </div>
    </div>
  );
}
