import { text } from '#text/shared';
import { token as t } from '#text/token';
import { tokens } from '#text/tokens';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CheckboxGroup, Label } from 'react-aria-components';
import { identity, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import { CheckboxRow, ChoiceGroup, TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { readRanges } from './ranges.ts';
import type { TokenDetails } from './api.ts';

const MAILED = 'mailed';

type TokenEdit = Pick<TokenDetails, 'name' | 'description' | 'scopes' | 'allowList' | 'noticesMuted'>;

const editToken = (tokenId: string, accountId: string | undefined, body: TokenEdit) =>
  unwrap(
    accountId === undefined
      ? identity.PATCH('/api/v1/personal-access-tokens/{tokenId}', { params: { path: { tokenId } }, body })
      : identity.PATCH('/api/v1/service-accounts/{accountId}/tokens/{tokenId}', {
          params: { path: { accountId, tokenId } },
          body,
        }),
  );

interface EditTokenProps {
  readonly token: TokenDetails;
  /** The service account whose token it is; undefined for a person's own. */
  readonly accountId?: string;
  onClose(): void;
}

/** Changes what a token is called and who hears of its expiry, and takes permissions and addresses from it. */
export function EditToken({ token, accountId, onClose }: EditTokenProps) {
  const client = useQueryClient();
  const [scopes, setScopes] = useState<readonly string[]>(token.scopes);
  const [notices, setNotices] = useState<readonly string[]>(token.noticesMuted ? [] : [MAILED]);
  const edit = useMutation({
    mutationFn: (form: FormData) =>
      editToken(token.id, accountId, {
        name: readText(form, 'name'),
        description: readText(form, 'description') || null,
        scopes: [...scopes],
        allowList: readRanges(readText(form, 'allowList')),
        noticesMuted: !notices.includes(MAILED),
      }),
    onSuccess: ({ revokedCount = 0 }) => {
      announce(t.saved(revokedCount));
      onClose();
    },
    onSettled: () =>
      client.invalidateQueries({ queryKey: [accountId === undefined ? 'tokens' : 'service-accounts'] }),
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
      <ChoiceGroup
        name="scopes"
        label={tokens.scopes}
        hint={t.narrowHint}
        missing={tokens.scopesMissing}
        value={scopes}
        onChange={setScopes}
      >
        <div className="scopes">
          {token.scopes.map((scope) => (
            <CheckboxRow key={scope} value={scope}>
              <code>{scope}</code>
            </CheckboxRow>
          ))}
        </div>
      </ChoiceGroup>
      <TextInput
        name="allowList"
        label={t.allowList}
        hint={t.allowListHint}
        isLong
        defaultValue={token.allowList.join('\n')}
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
