import { text } from '#text/shared';
import { token as t } from '#text/token';
import { tokens } from '#text/tokens';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CheckboxGroup, FieldError, Label } from 'react-aria-components';
import { identity, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import { CheckboxRow, TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { readRanges } from './ranges.ts';
import type { TokenDetails } from './token.tsx';

/** Changes what a token is called, and takes permissions and addresses from it. It never grants more. */
export function EditToken({ token, onClose }: { token: TokenDetails; onClose: () => void }) {
  const client = useQueryClient();
  const [scopes, setScopes] = useState<readonly string[]>(token.scopes);
  const edit = useMutation({
    mutationFn: (form: FormData) =>
      unwrap(
        identity.PATCH('/api/v1/personal-access-tokens/{tokenId}', {
          params: { path: { tokenId: token.id } },
          body: {
            name: readText(form, 'name'),
            description: readText(form, 'description') || null,
            scopes: [...scopes],
            allowList: readRanges(readText(form, 'allowList')),
          },
        }),
      ),
    onSuccess: () => {
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
      <CheckboxGroup className="field" isRequired value={[...scopes]} onChange={setScopes}>
        <Label>{tokens.scopes}</Label>
        <span className="hint">{t.narrowHint}</span>
        <div className="scopes">
          {token.scopes.map((scope) => (
            <CheckboxRow key={scope} value={scope}>
              <code>{scope}</code>
            </CheckboxRow>
          ))}
        </div>
        <FieldError className="fault">{tokens.scopesMissing}</FieldError>
      </CheckboxGroup>
      <TextInput
        name="allowList"
        label={t.allowList}
        hint={t.allowListHint}
        isLong
        defaultValue={token.allowList.join('\n')}
      />
    </FormDialog>
  );
}
