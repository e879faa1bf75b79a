import { text } from '#text/shared';
import { token as t } from '#text/token';
import { useQuery } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { FormDialog } from '../../ui/dialogs.tsx';
import { EditToken } from '../tokens/edit-token.tsx';
import type { AccountToken } from './api.ts';

interface EditAccountTokenProps {
  readonly accountId: string;
  readonly token: AccountToken;
  onClose(): void;
}

/** Loads what the list of tokens doesn't say, and then edits the token. */
export function EditAccountToken({
  accountId,
  token: { id: tokenId, name },
  onClose,
}: EditAccountTokenProps) {
  const query = useQuery({
    queryKey: ['service-accounts', accountId, 'token', tokenId],
    // The form begins with what is stored now, not with what it showed last.
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const params = { path: { accountId, tokenId } };
      const path = '/api/v1/service-accounts/{accountId}/tokens/{tokenId}';
      return (await unwrap(identity.GET(path, { params, signal }))).token;
    },
  });
  if (query.data) return <EditToken token={query.data} accountId={accountId} onClose={onClose} />;
  if (query.error === null) return undefined;
  return (
    <FormDialog
      title={t.editTitle(name)}
      action={text.tryAgain}
      isPending={query.isFetching}
      error={query.error}
      onClose={onClose}
      onSubmit={() => void query.refetch()}
    >
      {undefined}
    </FormDialog>
  );
}
