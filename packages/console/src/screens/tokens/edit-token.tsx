import { text } from '#text/shared';
import { token as t } from '#text/token';
import { tokens } from '#text/tokens';
import { useState } from 'react';
import { CheckboxGroup, Label } from 'react-aria-components';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
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
  const [notices, setNotices] = useState<readonly string[]>(token.noticesMuted ? [] : [MAILED]);
  return (
    <ActionDialog
      title={t.editTitle(token.name)}
      action={text.save}
      changes={['tokens']}
      act={(form) =>
        unwrap(
          identity.PATCH('/api/v1/personal-access-tokens/{tokenId}', {
            params: { path: { tokenId: token.id } },
            body: {
              name: readText(form, 'name'),
              description: readText(form, 'description') || null,
              noticesMuted: !notices.includes(MAILED),
            },
          }),
        )
      }
      describe={() => t.saved}
      onClose={onClose}
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
    </ActionDialog>
  );
}
