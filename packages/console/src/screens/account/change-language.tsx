import { account } from '#text/account';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { preferencesQuery } from '../../api/preferences.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { SelectInput } from '../../ui/fields.tsx';

const t = account.language;
type Language = keyof typeof t.names;

interface ChangeLanguageProps {
  readonly language: Language | null;
  onClose(): void;
}

export function ChangeLanguage({ language: current, onClose }: ChangeLanguageProps) {
  const [language, setLanguage] = useState<Language | 'organisation'>(current ?? 'organisation');
  return (
    <ActionDialog
      title={t.dialog}
      action={t.submit}
      changes={preferencesQuery.queryKey}
      act={() =>
        unwrap(
          identity.PUT('/api/v1/users/me/preferences', {
            body: { language: language === 'organisation' ? null : language },
          }),
        )
      }
      describe={() => t.changed}
      onClose={onClose}
    >
      <SelectInput<Language | 'organisation'>
        label={t.label}
        value={language}
        options={[
          ['organisation', t.ofOrganisation],
          ['en', t.names.en],
          ['de', t.names.de],
        ]}
        onChange={setLanguage}
      />
    </ActionDialog>
  );
}
