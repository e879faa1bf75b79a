import { connectionPolicy } from '#text/connection-policy';
import { DialogForm } from '../../ui/dialogs.tsx';
import type { ConnectionEffect } from './connections.ts';

const t = connectionPolicy.dialog;

interface ConnectionEffectsProps {
  readonly effect: ConnectionEffect;
  readonly isPending: boolean;
  readonly error: unknown;
  onBack(): void;
  onSave(): void;
}

/** Which connections a policy would end, before it is saved. */
export function ConnectionEffects({ effect, onBack, onSave, ...step }: ConnectionEffectsProps) {
  const { ended, endedCount } = effect;
  return (
    <DialogForm
      {...step}
      action={endedCount > 0 ? t.saveAndEnd : t.save}
      leave={t.back}
      isDangerous={endedCount > 0}
      onClose={onBack}
      onSubmit={onSave}
    >
      <p role="status">{endedCount === 0 ? t.nothingEnds : t.ends(endedCount)}</p>
      {endedCount > 0 && (
        // Reached by keyboard, because a long list scrolls.
        <div className="scopes" tabIndex={0} role="region" aria-label={t.ends(endedCount)}>
          <ul className="plain-list">
            {ended.map(({ id, name, ownerEmail, breaches }) => (
              <li key={id}>
                {name} · {ownerEmail}
                <small>{breaches.map((breach) => connectionPolicy.breaches[breach]).join(', ')}</small>
              </li>
            ))}
          </ul>
        </div>
      )}
      {ended.length < endedCount && <p className="hint">{t.listed(ended.length)}</p>}
    </DialogForm>
  );
}
