import { token as tokenText } from '#text/token';
import { tokens as t } from '#text/tokens';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { forRole, scopesQuery } from '../../api/scopes.ts';
import { Advanced, TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { readBounds } from './bounds.ts';
import { BoundsInput } from './bounds-input.tsx';
import { EXPIRIES, type Expiry, ExpiryInput } from './expiry-input.tsx';
import { readRanges } from './ranges.ts';
import { Permissions } from './permissions.tsx';
import type { TokenTemplate } from './api.ts';
import { ShownToken } from './shown-token.tsx';

interface CreateTokenProps {
  /** What the new token takes the place of. */
  readonly like?: TokenTemplate;
  onClose(): void;
}

export function CreateToken({ like, onClose }: CreateTokenProps) {
  const { role } = useMe();
  const groups = useQuery(scopesQuery);
  const bounds = useQuery({
    queryKey: ['bounds'],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/personal-access-tokens/bounds', { signal }))).bounds,
  });
  const [expiry, setExpiry] = useState<Expiry>('30');
  return (
    <SecretDialog
      title={t.create}
      shownTitle={t.shown.title}
      action={t.submit}
      isWide
      changes={['tokens']}
      act={(form) =>
        unwrap(
          identity.POST('/api/v1/personal-access-tokens', {
            body: {
              name: readText(form, 'name'),
              scopes: form.getAll('scopes').map(String),
              expiryDays: EXPIRIES[expiry],
              allowList: readRanges(readText(form, 'allowList')),
              ...readBounds(form),
            },
          }),
        )
      }
      show={({ token }) => <ShownToken token={token} onClose={onClose} />}
      onClose={onClose}
    >
      <TextInput
        name="name"
        label={t.name}
        hint={t.nameHint}
        isRequired
        maxLength={100}
        autoFocus
        defaultValue={like?.name ?? ''}
      />
      {/* One after the other, so that nothing is shown that moves when the rest is there. */}
      <QueryView query={groups}>
        {(found) => (
          <>
            <Permissions groups={forRole(found, role)} scopes={like?.scopes} />
            <ExpiryInput value={expiry} onChange={setExpiry} />
            <QueryView query={bounds}>
              {(choices) => (
                <>
                  <BoundsInput choices={choices} {...(like?.bounds && { bounds: like.bounds })} />
                  <Advanced label={t.advanced}>
                    <TextInput
                      name="allowList"
                      label={tokenText.allowList}
                      hint={tokenText.allowListHint}
                      isLong
                      defaultValue={like?.allowList.join('\n') ?? ''}
                    />
                  </Advanced>
                </>
              )}
            </QueryView>
          </>
        )}
      </QueryView>
    </SecretDialog>
  );
}
