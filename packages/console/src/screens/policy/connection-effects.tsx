import { connectionPolicy } from '#text/connection-policy';
import { Button } from '../../ui/button.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
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
export function ConnectionEffects({ effect, isPending, error, onBack, onSave }: ConnectionEffectsProps) {
  const { ended, endedCount } = effect;
  return (
    <>
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
      <ProblemNote error={error} />
      <div className="actions">
        <Button onPress={onBack}>{t.back}</Button>
        <Button kind={endedCount > 0 ? 'danger' : 'primary'} isPending={isPending} autoFocus onPress={onSave}>
          {endedCount > 0 ? t.saveAndEnd : t.save}
        </Button>
      </div>
    </>
  );
}
