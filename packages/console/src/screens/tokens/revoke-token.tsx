import { tokens as t } from '#text/tokens';
import { identity, unwrap } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { BulkDialog } from '../../ui/bulk-dialog.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import type { TokenDetails } from './api.ts';

interface RevokeTokenProps {
  readonly token: Pick<TokenDetails, 'id' | 'name'>;
  /** Whose it is, when an administrator revokes it; undefined: one's own. */
  readonly owner?: string;
  onClose(): void;
}

/** One's own tokens and those of the organisation are revoked at different paths. */
const revokeAt = (isOwn: boolean, tokenId: string, reason: string) => {
  const options = { params: { path: { tokenId } }, body: reason === '' ? {} : { reason } };
  return unwrap(
    isOwn
      ? identity.DELETE('/api/v1/personal-access-tokens/{tokenId}', options)
      : identity.DELETE('/api/v1/personal-access-tokens/admin/{tokenId}', options),
  );
};

interface RevokeTokensProps {
  readonly tokens: readonly { readonly id: string; readonly name: string; readonly ownerFullName?: string }[];
  onClose(): void;
}

/** Revokes several tokens: one's own, or those of the organisation, which name their owners. */
export const RevokeTokens = ({ tokens, onClose }: RevokeTokensProps) => (
  <BulkDialog
    title={t.revokeSeveral(tokens.length)}
    action={t.revokeSubmit}
    isDangerous
    items={tokens}
    changes={['tokens']}
    getName={({ name, ownerFullName }) =>
      ownerFullName === undefined ? name : t.nameOf(name, ownerFullName)
    }
    act={async ({ id, ownerFullName }, form) => {
      try {
        await revokeAt(ownerFullName === undefined, id, readText(form, 'reason'));
      } catch (error) {
        // Another of them had created it, and it was revoked with that one.
        if (!(error instanceof Problem && error.status === 404)) throw error;
      }
    }}
    describe={t.revokedSeveral}
    onClose={onClose}
  >
    <p>{t.revokeWarning}</p>
    <TextInput name="reason" label={t.reason} hint={t.reasonHint} maxLength={500} />
  </BulkDialog>
);

export const RevokeToken = ({ token, owner, onClose }: RevokeTokenProps) => (
  <ActionDialog
    title={owner === undefined ? t.revokeTitle(token.name) : t.revokeTitleOf(token.name, owner)}
    action={t.revokeSubmit}
    isDangerous
    changes={['tokens']}
    act={(form) => revokeAt(owner === undefined, token.id, readText(form, 'reason'))}
    describe={({ revokedCount }) => t.revoked(token.name, revokedCount)}
    onClose={onClose}
  >
    <p>{t.revokeWarning}</p>
    <TextInput name="reason" label={t.reason} hint={t.reasonHint} maxLength={500} />
  </ActionDialog>
);
