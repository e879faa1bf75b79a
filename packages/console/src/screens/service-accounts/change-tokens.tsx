import { serviceAccounts } from '#text/service-accounts';
import { token as tokenText } from '#text/token';
import { tokens as t } from '#text/tokens';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { forRole } from '../../api/scopes.ts';
import { Advanced, TextInput } from '../../ui/fields.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { readText } from '../../ui/read-form.ts';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { readBounds } from '../tokens/bounds.ts';
import { BoundsInput } from '../tokens/bounds-input.tsx';
import { EXPIRIES, type Expiry, ExpiryInput } from '../tokens/expiry-input.tsx';
import { readRanges } from '../tokens/ranges.ts';
import { Permissions } from '../tokens/permissions.tsx';
import { ShownToken } from '../tokens/shown-token.tsx';
import type { TokenTemplate } from '../tokens/api.ts';
import type { ServiceAccount } from './api.ts';

interface CreateAccountTokenProps {
  readonly account: Pick<ServiceAccount, 'id' | 'role'>;
  /** What the new token takes the place of. */
  readonly like?: TokenTemplate;
  onClose(): void;
}

export function CreateAccountToken({
  account: { id: accountId, role },
  like,
  onClose,
}: CreateAccountTokenProps) {
  const params = { path: { accountId } };
  const groups = useQuery({
    queryKey: ['service-accounts', accountId, 'scopes'],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/service-accounts/{accountId}/tokens/scopes', { params, signal })))
        .scopes,
  });
  const bounds = useQuery({
    queryKey: ['service-accounts', accountId, 'bounds'],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/service-accounts/{accountId}/tokens/bounds', { params, signal })))
        .bounds,
  });
  const [expiry, setExpiry] = useState<Expiry>('90');
  return (
    <SecretDialog
      title={t.create}
      shownTitle={t.shown.title}
      action={t.submit}
      isWide
      changes={['tokens']}
      act={(form) =>
        unwrap(
          identity.POST('/api/v1/service-accounts/{accountId}/tokens', {
            params,
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
      <QueryView query={groups}>
        {(found) => (
          <>
            <Permissions groups={forRole(found, role)} scopes={like?.scopes} />
            {role !== 'admin' && <p className="hint">{serviceAccounts.tokens.roleLimit}</p>}
          </>
        )}
      </QueryView>
      <ExpiryInput value={expiry} onChange={setExpiry} />
      <QueryView query={bounds}>
        {(choices) => <BoundsInput choices={choices} {...(like?.bounds && { bounds: like.bounds })} />}
      </QueryView>
      <Advanced label={t.advanced}>
        <TextInput
          name="allowList"
          label={tokenText.allowList}
          hint={tokenText.allowListHint}
          isLong
          defaultValue={like?.allowList.join('\n') ?? ''}
        />
      </Advanced>
    </SecretDialog>
  );
}
