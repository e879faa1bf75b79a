import { brand } from '#text/brand';
import { mails } from '#text/mails';
import { templates as t } from '#text/templates';
import type { MailSchemas } from '@platform/clients/types';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mail, unwrap } from '../../api/client.ts';
import { readOnly } from '../../api/session.ts';
import { SelectInput, TextInput } from '../../ui/fields.tsx';
import { TypedFields } from '../../ui/guarded-form.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { useSettled } from '../../ui/use-settled.ts';
import { RenderedMail } from './rendered-mail.tsx';
import { fieldsOf, type TemplateType, templateTypes } from './template-fields.ts';

type Preview = MailSchemas['schemas']['PreviewBody'];
type Language = NonNullable<Preview['language']>;

const languages = Object.keys(brand.languages) as Language[];

const load = (body: Preview, signal: AbortSignal) =>
  unwrap(mail.POST('/api/v1/mail/preview', { body, signal, ...readOnly }));

export function TemplatePreview() {
  const { filters, setFilter } = useFilters();
  const type = templateTypes.find((known) => known === filters['template']) ?? 'appuserInvite';
  const [data, setData] = useState<Readonly<Record<string, string>>>(t.example);
  const templateData = Object.fromEntries(fieldsOf[type].map((field) => [field, data[field] ?? '']));
  const language = languages.find((known) => known === filters['language']);
  const body = useSettled({ emailTemplateType: type, templateData, ...(language && { language }) });
  const query = useQuery({
    queryKey: ['mail-preview', body],
    queryFn: ({ signal }) => load(body, signal),
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <div className="columns preview-columns">
      <TypedFields>
        <SelectInput<TemplateType>
          label={mails.template}
          value={type}
          options={templateTypes.map((known) => [known, t.types[known]])}
          onChange={(value) => setFilter('template', value)}
        />
        <SelectInput<Language | ''>
          label={t.language}
          value={language ?? ''}
          options={[
            ['', t.languageOfOrganisation],
            ...languages.map((known): [Language, string] => [known, brand.languages[known]]),
          ]}
          onChange={(value) => setFilter('language', value)}
        />
        {fieldsOf[type].map((field) => (
          <TextInput
            key={field}
            label={t.fields[field]}
            value={data[field] ?? ''}
            onChange={(value) => setData((previous) => ({ ...previous, [field]: value }))}
          />
        ))}
      </TypedFields>
      <div>
        <QueryView query={query}>
          {(rendered) => <RenderedMail title={t.types[type]} mail={rendered} />}
        </QueryView>
      </div>
    </div>
  );
}
