import { tokenPolicy } from '#text/token-policy';
import { DialogForm } from '../../ui/dialogs.tsx';
import type { PolicyEffect } from './policy.ts';

const t = tokenPolicy.dialog;

interface PolicyEffectsProps {
  readonly effect: PolicyEffect;
  readonly isPending: boolean;
  readonly error: unknown;
  onBack(): void;
  onSave(): void;
}

/** Shows how a policy would affect the existing tokens, before it is saved. */
export function PolicyEffects({ effect, onBack, onSave, ...step }: PolicyEffectsProps) {
  const { affectedCount, policy } = effect;
  return (
    <DialogForm {...step} action={t.save} leave={t.back} onClose={onBack} onSubmit={onSave}>
      <p role="status">{affectedCount === 0 ? t.nothingAffected : t.affected(affectedCount)}</p>
      {policy.allowList.length > 0 && <p className="warning">{t.addresses}</p>}
      {affectedCount > 0 && (
        <>
          <Affected effect={effect} />
          <p>{t.consequence}</p>
        </>
      )}
    </DialogForm>
  );
}

function Affected({ effect: { affected, affectedCount } }: { effect: PolicyEffect }) {
  const listed = affected.reduce((count, { tokens }) => count + tokens.length, 0);
  return (
    <>
      {/* Reached by keyboard, because a long list scrolls. */}
      <div className="scopes" tabIndex={0} role="region" aria-label={t.affected(affectedCount)}>
        {affected.map(({ userId, ownerEmail, ownerFullName, tokens }) => (
          <section key={userId}>
            <h3>{ownerEmail || ownerFullName}</h3>
            <ul className="plain-list">
              {tokens.map(({ id, name, breaches }) => (
                <li key={id}>
                  {name}
                  <small>{breaches.map((breach) => tokenPolicy.breaches[breach]).join(', ')}</small>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
      {listed < affectedCount && <p className="hint">{t.listed(listed)}</p>}
    </>
  );
}
