import { tokenPolicy } from '#text/token-policy';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CheckboxGroup, Label } from 'react-aria-components';
import { scopesQuery, withChosen } from '../../api/scopes.ts';
import { announce } from '../../ui/announcements.tsx';
import { DialogForm, ModalDialog } from '../../ui/dialogs.tsx';
import { CheckboxRow, NumberInput, TextInput } from '../../ui/fields.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { PolicyEffects } from './policy-effects.tsx';
import { type ExistingTokens, type Policy, readPolicy, type Rule, sendPolicy, toRules } from './policy.ts';

const t = tokenPolicy.dialog;
const DEFAULT_DAYS = 90;
const MAX_DAYS = 3_650;

interface ChangePolicyProps {
  readonly policy: Policy;
  onClose(): void;
}

/** Changes the policy in two steps: what it should be, then what that does to the tokens there are. */
export function ChangePolicy({ policy, onClose }: ChangePolicyProps) {
  const client = useQueryClient();
  // Kept here, so that going back loses nothing.
  const [draft, setDraft] = useState(policy);
  const check = useMutation({ mutationFn: (next: Policy) => sendPolicy(next, { dryRun: true }) });
  const save = useMutation({
    mutationFn: (existingTokens: ExistingTokens | undefined) =>
      sendPolicy(draft, { dryRun: false, ...(existingTokens && { existingTokens }) }),
    onSuccess: ({ revokedCount }) => {
      announce(tokenPolicy.saved(revokedCount));
      onClose();
    },
    onSettled: () =>
      Promise.all(['token-policy', 'tokens'].map((key) => client.invalidateQueries({ queryKey: [key] }))),
  });
  return (
    <ModalDialog title={t.title} isWide onClose={onClose}>
      {check.data ? (
        <PolicyEffects
          effect={check.data}
          isPending={save.isPending}
          error={save.error}
          onBack={() => check.reset()}
          onSave={(existing) => save.mutate(existing)}
        />
      ) : (
        <PolicyForm
          policy={draft}
          isPending={check.isPending}
          error={check.error}
          onClose={onClose}
          onCheck={(next) => {
            setDraft(next);
            check.mutate(next);
          }}
        />
      )}
    </ModalDialog>
  );
}

interface PolicyFormProps {
  readonly policy: Policy;
  readonly isPending: boolean;
  readonly error: unknown;
  onClose(): void;
  onCheck(next: Policy): void;
}

function PolicyForm({ policy, isPending, error, onClose, onCheck }: PolicyFormProps) {
  const [rules, setRules] = useState<readonly Rule[]>(() => toRules(policy));
  const [days, setDays] = useState(policy.maxLifetimeDays ?? DEFAULT_DAYS);
  return (
    <DialogForm
      action={t.next}
      isPending={isPending}
      error={error}
      onClose={onClose}
      onSubmit={(form) => onCheck(readPolicy(form, rules, days))}
    >
      <CheckboxGroup className="field" value={[...rules]} onChange={(chosen) => setRules(chosen as Rule[])}>
        <Label>{t.options}</Label>
        <div className="scopes">
          <CheckboxRow value="limit">{t.limit}</CheckboxRow>
          {!rules.includes('limit') && <CheckboxRow value="never">{t.allowNever}</CheckboxRow>}
          <CheckboxRow value="family" hint={t.revokeFamilyHint}>
            {t.revokeFamily}
          </CheckboxRow>
        </div>
      </CheckboxGroup>
      {rules.includes('limit') && (
        <NumberInput label={t.maxDays} value={days} minValue={1} maxValue={MAX_DAYS} onChange={setDays} />
      )}
      <DeniedScopes initial={policy.deniedScopes} />
      <TextInput
        name="allowList"
        label={tokenPolicy.allowList}
        hint={t.allowListHint}
        isLong
        defaultValue={policy.allowList.join('\n')}
      />
    </DialogForm>
  );
}

function DeniedScopes({ initial }: { initial: readonly string[] }) {
  const groups = useQuery(scopesQuery);
  return (
    <QueryView query={groups}>
      {(found) => (
        <CheckboxGroup name="deniedScopes" className="field" defaultValue={[...initial]}>
          <Label>{t.deniedTitle}</Label>
          <div className="scopes">
            {withChosen(found, initial, t.deniedNow).map(({ category, scopes }) => (
              <div key={category} role="group" aria-label={category}>
                <h3>{category}</h3>
                {scopes.map(({ name, description }) => (
                  <CheckboxRow key={name} value={name} hint={description}>
                    <code>{name}</code>
                  </CheckboxRow>
                ))}
              </div>
            ))}
          </div>
        </CheckboxGroup>
      )}
    </QueryView>
  );
}
