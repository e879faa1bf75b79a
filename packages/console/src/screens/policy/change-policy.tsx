import { tokenPolicy } from '#text/token-policy';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CheckboxGroup, Label } from 'react-aria-components';
import { scopesQuery, withChosen } from '../../api/scopes.ts';
import { DialogForm } from '../../ui/dialogs.tsx';
import { CheckboxRow, NumberInput, TextInput } from '../../ui/fields.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { ScopeGroups } from '../tokens/scope-picker.tsx';
import { PolicyDialog, type PolicyFormProps } from './policy-dialog.tsx';
import { PolicyEffects } from './policy-effects.tsx';
import { type Policy, type PolicyEffect, readPolicy, type Rule, sendPolicy, toRules } from './policy.ts';

const t = tokenPolicy.dialog;
const DEFAULT_DAYS = 90;
const MIN_UNUSED_DAYS = 8;
const MAX_DAYS = 3_650;

interface ChangePolicyProps {
  readonly policy: Policy;
  onClose(): void;
}

/** Changes the policy after a look at what that does to the tokens there are. */
export const ChangePolicy = ({ policy, onClose }: ChangePolicyProps) => (
  <PolicyDialog<Policy, PolicyEffect>
    title={t.title}
    policy={policy}
    changes={[['token-policy'], ['tokens']]}
    check={(next) => sendPolicy(next, { dryRun: true })}
    save={(next) => sendPolicy(next, { dryRun: false })}
    describe={() => tokenPolicy.saved}
    renderForm={(form) => <PolicyForm {...form} />}
    renderEffect={(effects) => <PolicyEffects {...effects} />}
    onClose={onClose}
  />
);

function PolicyForm({ policy, isPending, error, onClose, onCheck }: PolicyFormProps<Policy>) {
  const [rules, setRules] = useState<readonly Rule[]>(() => toRules(policy));
  const [maxLifetimeDays, setLifetime] = useState(policy.maxLifetimeDays ?? DEFAULT_DAYS);
  const [revokeUnusedDays, setUnused] = useState(policy.revokeUnusedDays ?? DEFAULT_DAYS);
  const [deniedScopes, setDenied] = useState<readonly string[]>(policy.deniedScopes);
  return (
    <DialogForm
      action={t.next}
      isPending={isPending}
      error={error}
      onClose={onClose}
      onSubmit={(form) =>
        onCheck(readPolicy(form, rules, { maxLifetimeDays, revokeUnusedDays, deniedScopes }))
      }
    >
      <CheckboxGroup className="field" value={[...rules]} onChange={(chosen) => setRules(chosen as Rule[])}>
        <Label>{t.options}</Label>
        <div className="scopes">
          <CheckboxRow value="limit">{t.limit}</CheckboxRow>
          {!rules.includes('limit') && <CheckboxRow value="never">{t.allowNever}</CheckboxRow>}
          <CheckboxRow value="family" hint={t.revokeFamilyHint}>
            {t.revokeFamily}
          </CheckboxRow>
          <CheckboxRow value="unused" hint={t.revokeUnusedHint}>
            {t.revokeUnused}
          </CheckboxRow>
        </div>
      </CheckboxGroup>
      {rules.includes('limit') && (
        <NumberInput
          name="maxLifetimeDays"
          label={t.maxDays}
          value={maxLifetimeDays}
          minValue={1}
          maxValue={MAX_DAYS}
          onChange={setLifetime}
        />
      )}
      {rules.includes('unused') && (
        <NumberInput
          name="revokeUnusedDays"
          label={t.unusedDays}
          value={revokeUnusedDays}
          minValue={MIN_UNUSED_DAYS}
          maxValue={MAX_DAYS}
          onChange={setUnused}
        />
      )}
      <DeniedScopes initial={policy.deniedScopes} denied={deniedScopes} onChange={setDenied} />
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

interface DeniedScopesProps {
  readonly initial: readonly string[];
  readonly denied: readonly string[];
  onChange(denied: readonly string[]): void;
}

function DeniedScopes({ initial, denied, onChange }: DeniedScopesProps) {
  const groups = useQuery(scopesQuery);
  return (
    <QueryView query={groups}>
      {(found) => (
        <CheckboxGroup name="deniedScopes" className="field" value={[...denied]} onChange={onChange}>
          <Label>{t.deniedTitle}</Label>
          <ScopeGroups groups={withChosen(found, initial, t.deniedNow)} chosen={denied} />
        </CheckboxGroup>
      )}
    </QueryView>
  );
}
