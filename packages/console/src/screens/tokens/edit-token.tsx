import { text } from '#text/shared';
import { token as t } from '#text/token';
import { tokens } from '#text/tokens';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CheckboxGroup, Label } from 'react-aria-components';
import { identity, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import { CheckboxRow, TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import type { TokenDetails } from './api.ts';

const MAILED = 'mailed';

interface EditTokenProps {
  readonly token: TokenDetails;
  onClose(): void;
}

/** Changes what a token is called, and whether its expiry is mailed. */
export function EditToken({ token, onClose }: EditTokenProps) {
  const client = useQueryClient();
  const [notices, setNotices] = useState<readonly string[]>(token.noticesMuted ? [] : [MAILED]);
  const edit = useMutation({
    mutationFn: (form: FormData) =>
      unwrap(
        identity.PATCH('/api/v1/personal-access-tokens/{tokenId}', {
          params: { path: { tokenId: token.id } },
          body: {
            name: readText(form, 'name'),
            description: readText(form, 'description') || null,
            noticesMuted: !notices.includes(MAILED),
          },
        }),
      ),
    onSuccess() {
      announce(t.saved);
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
  return (
    <FormDialog
      title={t.editTitle(token.name)}
      action={text.save}
      isPending={edit.isPending}
      error={edit.error}
      onClose={onClose}
      onSubmit={(form) => edit.mutate(form)}
    >
      <TextInput name="name" label={tokens.name} defaultValue={token.name} isRequired maxLength={100} />
      <TextInput
        name="description"
        label={t.description}
        defaultValue={token.description ?? ''}
        maxLength={500}
      />
      {token.expiresAt !== null && (
        <CheckboxGroup className="field" value={[...notices]} onChange={setNotices}>
          <Label>{t.notices}</Label>
          <CheckboxRow value={MAILED}>{t.mailNotices}</CheckboxRow>
        </CheckboxGroup>
      )}
    </FormDialog>
  );
}
