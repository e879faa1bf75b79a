import { brand as t } from '#text/brand';
import type { MailSchemas } from '@platform/clients/types';
import { useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { mail, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { Button } from '../../ui/button.tsx';
import { SelectInput, TextInput } from '../../ui/fields.tsx';
import { GuardedForm, SaveButton } from '../../ui/guarded-form.tsx';
import { useChange } from '../../ui/use-change.ts';
import { readText } from '../../ui/read-form.ts';
import { useAction } from '../../ui/use-action.ts';

type Brand = MailSchemas['schemas']['Brand'];
type Language = NonNullable<Brand['language']>;

const MAX_LOGO_BYTES = 65_536;
const names = ['name', 'accentColor', 'footer', 'replyTo'] as const;

async function readBase64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return btoa(bytes.reduce((binary, byte) => binary + String.fromCharCode(byte), ''));
}

export function BrandForm({ brand }: { brand: Brand }) {
  const [logo, setLogo] = useState(brand.logo);
  const [language, setLanguage] = useState<Language>(brand.language ?? 'en');
  const save = useAction({
    mutationFn: (form: FormData) => {
      const entries = names.map((name) => [name, readText(form, name)] as const);
      const given = Object.fromEntries(entries.filter(([, value]) => value !== ''));
      return unwrap(
        mail.PUT('/api/v1/mail/brand', { body: { ...given, language, ...(logo !== undefined && { logo }) } }),
      );
    },
    onSuccess: () => announce(t.saved),
    changes: [['mail-brand'], ['mail-preview']],
  });
  return (
    <GuardedForm
      isPending={save.isPending}
      error={save.error}
      onSubmit={(form) => save.mutate(form)}
      footer={<SaveButton isPending={save.isPending} />}
    >
      <TextInput
        name="name"
        label={t.name}
        hint={t.nameHint}
        defaultValue={brand.name ?? ''}
        maxLength={100}
      />
      <LogoInput logo={logo} onChange={setLogo} />
      <TextInput
        name="accentColor"
        label={t.accentColor}
        hint={t.accentHint}
        defaultValue={brand.accentColor ?? ''}
        validate={(value) => (value === '' || /^#[0-9a-f]{6}$/i.test(value.trim()) ? null : t.accentFault)}
      />
      <TextInput
        name="footer"
        label={t.footer}
        hint={t.footerHint}
        defaultValue={brand.footer ?? ''}
        maxLength={300}
      />
      <TextInput
        name="replyTo"
        type="email"
        label={t.replyTo}
        hint={t.replyToHint}
        defaultValue={brand.replyTo ?? ''}
      />
      <SelectInput<Language>
        name="language"
        label={t.language}
        hint={t.languageHint}
        value={language}
        options={[
          ['en', t.languages.en],
          ['de', t.languages.de],
        ]}
        onChange={setLanguage}
      />
    </GuardedForm>
  );
}

interface LogoInputProps {
  readonly logo: string | undefined;
  onChange(logo: string | undefined): void;
}

function LogoInput({ logo, onChange }: LogoInputProps) {
  const [field, change] = useChange(onChange);
  const [isRefused, setRefused] = useState(false);
  const choose = async (file: File | undefined) => {
    if (!file) return;
    const isFit = file.type === 'image/png' && file.size <= MAX_LOGO_BYTES;
    setRefused(!isFit);
    if (isFit) change(await readBase64(file));
  };
  const size = Math.ceil(((logo?.length ?? 0) * 3) / 4 / 1_000);
  return (
    <div ref={field} className="field" role="group" aria-label={t.logo}>
      <span className="label-row">{t.logo}</span>
      <p role="status">{logo === undefined ? t.noLogo : t.hasLogo(String(size))}</p>
      <div className="actions">
        <FileTrigger acceptedFileTypes={['image/png']} onSelect={(files) => void choose(files?.[0])}>
          <Button>{t.chooseLogo}</Button>
        </FileTrigger>
        {logo !== undefined && <Button onPress={() => change(undefined)}>{t.removeLogo}</Button>}
      </div>
      <span className="hint">{t.logoHint}</span>
      {isRefused && <p className="problem">{t.tooLarge}</p>}
    </div>
  );
}
