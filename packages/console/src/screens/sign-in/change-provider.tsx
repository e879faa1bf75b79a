import { identityProvider } from '#text/identity-provider';
import { CheckboxGroup, Label } from 'react-aria-components';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { CheckboxRow, TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { readSecret, SecretInput } from '../../ui/secret-input.tsx';
import { PROVIDER_KEY, PROVIDER_PATH, type Provider } from './provider.ts';

const t = identityProvider.form;

interface ChangeProviderProps {
  readonly provider: Provider | null | undefined;
  readonly redirectUri: string;
  onClose(): void;
}

function save(form: FormData, provider: Provider | null | undefined) {
  const options = form.getAll('options');
  const clientSecret = readSecret(form, 'clientSecret');
  return unwrap(
    identity.PUT(PROVIDER_PATH, {
      body: {
        issuer: readText(form, 'issuer'),
        clientId: readText(form, 'clientId'),
        ...(clientSecret !== undefined && { clientSecret }),
        // What the form does not show stays as it is.
        ...(provider && { scopes: provider.scopes, groupsClaim: provider.groupsClaim }),
        secondFactorValues: [...new Set(readText(form, 'secondFactorValues').split(/\s+/).filter(Boolean))],
        justInTimeMembership: options.includes('justInTime'),
        required: options.includes('required'),
      },
    }),
  );
}

/** Sets the provider up, or changes it. */
export function ChangeProvider({ provider, redirectUri, onClose }: ChangeProviderProps) {
  const chosen = [
    ...(provider?.justInTimeMembership ? ['justInTime'] : []),
    ...(provider?.required ? ['required'] : []),
  ];
  return (
    <ActionDialog
      title={provider ? t.changeTitle : t.setUpTitle}
      action={t.submit}
      isWide
      changes={PROVIDER_KEY}
      act={(form) => save(form, provider)}
      describe={({ endedCount }) => t.saved(endedCount)}
      onClose={onClose}
    >
      <p>{t.redirectHint}</p>
      <Copyable value={redirectUri} label={identityProvider.facts.redirect} />
      <TextInput
        name="issuer"
        type="url"
        label={t.issuer}
        hint={t.issuerHint}
        defaultValue={provider?.issuer ?? ''}
        isRequired
        autoFocus
        maxLength={2_048}
      />
      <TextInput
        name="clientId"
        label={t.client}
        defaultValue={provider?.clientId ?? ''}
        isRequired
        maxLength={512}
      />
      <SecretInput
        name="clientSecret"
        label={t.secret}
        hint={t.secretHint}
        isStored={provider?.hasClientSecret === true}
        removal={t.removeSecret}
        maxLength={1_024}
      />
      <TextInput
        name="secondFactorValues"
        label={t.factor}
        hint={t.factorHint}
        defaultValue={provider?.secondFactorValues.join(' ') ?? ''}
      />
      <CheckboxGroup name="options" className="field" defaultValue={chosen}>
        <Label>{t.options}</Label>
        <CheckboxRow value="justInTime" hint={t.justInTimeHint}>
          {t.justInTime}
        </CheckboxRow>
        <CheckboxRow value="required" hint={t.requiredHint}>
          {t.required}
        </CheckboxRow>
      </CheckboxGroup>
    </ActionDialog>
  );
}
