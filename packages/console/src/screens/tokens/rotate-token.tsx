import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { text } from '../../text/index.ts';
import { DialogForm, ModalDialog } from '../../ui/dialogs.tsx';
import { SelectInput } from '../../ui/fields.tsx';
import { ShownToken } from './shown-token.tsx';
import type { Token } from './tokens.tsx';

const t = text.token;
type Grace = keyof typeof t.graces;
const graceOptions = Object.entries(t.graces) as [Grace, string][];

/** Replaces a token; the old one works for a while, so that nothing stops while it is exchanged. */
export function RotateToken({ token, onClose }: { token: Pick<Token, 'id' | 'name'>; onClose: () => void }) {
  const client = useQueryClient();
  const [grace, setGrace] = useState<Grace>('86400');
  const rotate = useMutation({
    mutationFn: () =>
      unwrap(
        identity.POST('/api/v1/personal-access-tokens/{tokenId}/rotate', {
          params: { path: { tokenId: token.id } },
          body: { graceSeconds: Number(grace) },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
  const shown = rotate.data?.token;
  return (
    <ModalDialog
      title={shown ? text.tokens.shown.title : t.rotateTitle(token.name)}
      isWide
      isKept={shown !== undefined}
      onClose={onClose}
    >
      {shown ? (
        <ShownToken token={shown} onClose={onClose} />
      ) : (
        <DialogForm
          action={t.rotateSubmit}
          isPending={rotate.isPending}
          error={rotate.error}
          onClose={onClose}
          onSubmit={() => rotate.mutate()}
        >
          <p>{t.rotateHint}</p>
          <SelectInput<Grace> label={t.grace} value={grace} options={graceOptions} onChange={setGrace} />
        </DialogForm>
      )}
    </ModalDialog>
  );
}
