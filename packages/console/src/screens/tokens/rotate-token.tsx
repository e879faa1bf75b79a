import { token as t } from '#text/token';
import { tokens } from '#text/tokens';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { SelectInput } from '../../ui/fields.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { ShownToken } from './shown-token.tsx';

type Grace = keyof typeof t.graces;
const graceOptions = Object.entries(t.graces) as [Grace, string][];

const rotateToken = (tokenId: string, accountId: string | undefined, body: { graceSeconds: number }) =>
  unwrap(
    accountId === undefined
      ? identity.POST('/api/v1/personal-access-tokens/{tokenId}/rotate', {
          params: { path: { tokenId } },
          body,
        })
      : identity.POST('/api/v1/service-accounts/{accountId}/tokens/{tokenId}/rotate', {
          params: { path: { accountId, tokenId } },
          body,
        }),
  );

interface RotateTokenProps {
  readonly token: { readonly id: string; readonly name: string };
  /** The service account whose token it is; undefined for a person's own. */
  readonly accountId?: string;
  onClose(): void;
}

/** Replaces a token; the old one works for a while, so that nothing stops while it is exchanged. */
export function RotateToken({ token, accountId, onClose }: RotateTokenProps) {
  const [grace, setGrace] = useState<Grace>('86400');
  return (
    <SecretDialog
      title={t.rotateTitle(token.name)}
      shownTitle={tokens.shown.title}
      action={t.rotateSubmit}
      isWide
      changes={[accountId === undefined ? 'tokens' : 'service-accounts']}
      act={() => rotateToken(token.id, accountId, { graceSeconds: Number(grace) })}
      show={(rotated) => <ShownToken token={rotated.token} onClose={onClose} />}
      onClose={onClose}
    >
      <p>{t.rotateHint}</p>
      <SelectInput<Grace> label={t.grace} value={grace} options={graceOptions} onChange={setGrace} />
    </SecretDialog>
  );
}
