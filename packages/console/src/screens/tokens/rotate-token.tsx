import { token as t } from '#text/token';
import { tokens } from '#text/tokens';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { narrow, scopesQuery, withChosen } from '../../api/scopes.ts';
import { SelectInput, TextInput } from '../../ui/fields.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { readText } from '../../ui/read-form.ts';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import type { TokenDetails } from './api.ts';
import { readRanges } from './ranges.ts';
import { ScopePicker } from './scope-picker.tsx';
import { ShownToken } from './shown-token.tsx';

type Grace = keyof typeof t.graces;
const graceOptions = Object.entries(t.graces) as [Grace, string][];

interface RotateTokenProps {
  readonly token: Pick<TokenDetails, 'id' | 'name' | 'scopes' | 'allowList'>;
  onClose(): void;
}

/**
 * Replaces a token by one with the same scopes or fewer; the old one works for a while, so that nothing stops while it is
 * exchanged.
 */
export function RotateToken({ token, onClose }: RotateTokenProps) {
  const groups = useQuery(scopesQuery);
  const [grace, setGrace] = useState<Grace>('86400');
  const [scopes, setScopes] = useState<readonly string[]>(token.scopes);
  return (
    <SecretDialog
      title={t.rotateTitle(token.name)}
      shownTitle={tokens.shown.title}
      action={t.rotateSubmit}
      isWide
      changes={['tokens']}
      act={(form) =>
        unwrap(
          identity.POST('/api/v1/personal-access-tokens/{tokenId}/rotate', {
            params: { path: { tokenId: token.id } },
            body: {
              graceSeconds: Number(grace),
              scopes: [...scopes],
              allowList: readRanges(readText(form, 'allowList')),
            },
          }),
        )
      }
      show={(rotated) => <ShownToken token={rotated.token} onClose={onClose} />}
      onClose={onClose}
    >
      <p>{t.rotateHint}</p>
      <SelectInput<Grace>
        name="graceSeconds"
        label={t.grace}
        value={grace}
        options={graceOptions}
        onChange={setGrace}
      />
      <QueryView query={groups}>
        {(found) => (
          <ScopePicker
            groups={withChosen(narrow(found, token.scopes), token.scopes, tokens.otherScopes)}
            hint={t.narrowHint}
            chosen={scopes}
            onChange={setScopes}
          />
        )}
      </QueryView>
      <TextInput
        name="allowList"
        label={t.allowList}
        hint={t.allowListHint}
        isLong
        defaultValue={token.allowList.join('\n')}
      />
    </SecretDialog>
  );
}
