import { destinations as t } from '#text/destinations';
import { text } from '#text/shared';
import { useState } from 'react';
import { CheckboxGroup, Label, Text } from 'react-aria-components';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { Advanced, CheckboxRow, RadioCards, TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { readSecret, SecretInput } from '../../ui/secret-input.tsx';
import { DoneButton, SecretDialog } from '../../ui/secret-dialog.tsx';
import {
  DESTINATION,
  type Destination,
  DESTINATIONS,
  type FactType,
  factTypeOptions,
  getName,
} from './api.ts';

const changes = ['destinations'];

type Form = 'webhook' | 'logs';

interface DestinationDialogProps {
  readonly destination: Destination;
  onClose(): void;
}

const toParams = ({ id }: Destination) => ({ params: { path: { id } } });

const ShownSecret = ({ secret, onClose }: { secret: string | null; onClose: () => void }) => (
  <>
    {secret === null ? (
      <p>{t.urlHint}</p>
    ) : (
      <>
        <p className="warning">{t.shownWarning}</p>
        <Copyable value={secret} label={t.shownSecret} />
      </>
    )}
    <DoneButton onPress={onClose} />
  </>
);

const readFields = (form: FormData) => ({
  url: readText(form, 'url'),
  description: readText(form, 'description'),
  types: form.getAll('types') as FactType[],
});

/** Returns undefined when the stored credential is kept, or there is none; null when it is removed. */
function readCredential(form: FormData) {
  const value = readSecret(form, 'value');
  return typeof value === 'string' ? { header: readText(form, 'header').toLowerCase(), value } : value;
}

export function CreateDestination({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState<Form>('webhook');
  return (
    <SecretDialog
      title={t.create}
      shownTitle={kind === 'webhook' ? t.shownTitle : t.one}
      action={t.createSubmit}
      isWide
      changes={changes}
      act={(form) => {
        const credential = kind === 'logs' ? readCredential(form) : undefined;
        return unwrap(
          identity.POST(DESTINATIONS, {
            body: { form: kind, ...readFields(form), ...(credential && { credential }) },
          }),
        );
      }}
      show={({ secret }) => <ShownSecret secret={secret} onClose={onClose} />}
      onClose={onClose}
    >
      <RadioCards<Form>
        label={t.form}
        value={kind}
        options={(['webhook', 'logs'] as const).map((key) => ({
          key,
          label: t.forms[key],
          hint: t.formHints[key],
        }))}
        onChange={setKind}
      />
      <DestinationFields form={kind} />
    </SecretDialog>
  );
}

export const EditDestination = ({ destination, onClose }: DestinationDialogProps) => (
  <ActionDialog
    title={t.editTitle(getName(destination))}
    action={text.save}
    isWide
    changes={changes}
    act={(form) => {
      const credential = destination.form === 'logs' ? readCredential(form) : undefined;
      return unwrap(
        identity.PATCH(DESTINATION, {
          ...toParams(destination),
          body: { ...readFields(form), ...(credential !== undefined && { credential }) },
        }),
      );
    }}
    describe={() => t.saved}
    onClose={onClose}
  >
    <DestinationFields form={destination.form as Form} destination={destination} />
  </ActionDialog>
);

function DestinationFields({ form, destination }: { form: Form; destination?: Destination }) {
  const [types, setTypes] = useState<readonly string[]>(destination?.types ?? []);
  const storedHeader = destination?.credentialHeader ?? undefined;
  const [header, setHeader] = useState(storedHeader ?? 'authorization');
  // A secret stays with the header that it was given for.
  const isStored = storedHeader !== undefined && header.trim().toLowerCase() === storedHeader;
  return (
    <>
      <TextInput
        name="url"
        type="url"
        label={t.url}
        hint={t.urlHint}
        isRequired
        maxLength={2_048}
        placeholder={form === 'logs' ? 'https://collector.example.com/v1/logs' : 'https://'}
        defaultValue={destination?.url ?? ''}
      />
      <TextInput
        name="description"
        label={t.description}
        maxLength={200}
        defaultValue={destination?.description ?? ''}
      />
      {form === 'logs' && (
        <div className="row">
          <TextInput name="header" label={t.header} value={header} onChange={setHeader} />
          <SecretInput
            name="value"
            label={t.secret}
            hint={t.secretHint}
            isStored={isStored}
            isRequired={storedHeader !== undefined}
            removal={t.removeSecret}
            maxLength={4_096}
          />
        </div>
      )}
      <Advanced
        label={types.length === 0 ? `${t.types}: ${t.everything}` : `${t.types}: ${t.some(types.length)}`}
      >
        <CheckboxGroup name="types" className="field" value={[...types]} onChange={setTypes}>
          <Label>{t.types}</Label>
          <Text slot="description" className="hint">
            {t.typesHint}
          </Text>
          {factTypeOptions.map(([type, label]) => (
            <CheckboxRow key={type} value={type} hint={type}>
              {label}
            </CheckboxRow>
          ))}
        </CheckboxGroup>
      </Advanced>
    </>
  );
}

export const ReplaceSecret = ({ destination, onClose }: DestinationDialogProps) => (
  <SecretDialog
    title={t.replaceTitle(getName(destination))}
    shownTitle={t.shownTitle}
    action={t.replaceSubmit}
    changes={changes}
    act={() => unwrap(identity.POST(`${DESTINATION}/secret`, toParams(destination)))}
    show={({ secret }) => <ShownSecret secret={secret} onClose={onClose} />}
    onClose={onClose}
  >
    <p>{t.replaceHint}</p>
  </SecretDialog>
);

/** Disables a destination, or enables it again. */
export function SwitchDestination({ destination, onClose }: DestinationDialogProps) {
  // What was asked stays, even if the destination is read again meanwhile.
  const [{ isEnabled }] = useState(destination);
  const name = getName(destination);
  return (
    <ActionDialog
      title={isEnabled ? t.disableTitle(name) : t.enableTitle(name)}
      action={isEnabled ? t.disableSubmit : t.enableSubmit}
      isDangerous={isEnabled}
      changes={changes}
      act={() =>
        unwrap(identity.PATCH(DESTINATION, { ...toParams(destination), body: { isEnabled: !isEnabled } }))
      }
      describe={() => (isEnabled ? t.disabled(name) : t.enabled(name))}
      onClose={onClose}
    >
      <p>{isEnabled ? t.disableHint : t.enableHint}</p>
    </ActionDialog>
  );
}

export const RemoveDestination = ({
  destination,
  onRemoved,
  onClose,
}: DestinationDialogProps & { readonly onRemoved: () => void }) => (
  <ActionDialog
    title={t.removeTitle(getName(destination))}
    action={t.removeSubmit}
    isDangerous
    changes={['destinations', 'list']}
    act={() => unwrap(identity.DELETE(DESTINATION, toParams(destination)))}
    describe={() => t.removed(getName(destination))}
    onClose={onClose}
    onDone={onRemoved}
  >
    <p>{t.removeHint}</p>
  </ActionDialog>
);
