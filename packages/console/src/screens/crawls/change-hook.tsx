import { hooks as t } from '#text/hooks';
import { useState } from 'react';
import { crawl, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { readConnectorKey } from '../../ui/connector-name.ts';
import { Copyable } from '../../ui/copy.tsx';
import { ModalDialog } from '../../ui/dialogs.tsx';
import { SelectInput, TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { DoneButton, SecretDialog } from '../../ui/secret-dialog.tsx';
import { type Hook, HOOKS, hooksQuery } from './api.ts';

type Kind = Hook['kind'];

interface HookDialogProps {
  readonly connector: string;
  readonly hook: Hook;
  readonly name: string;
  onClose(): void;
}

const toParams = ({ connector, hook }: Pick<HookDialogProps, 'connector' | 'hook'>) => ({
  params: { path: { ...readConnectorKey(connector), hookId: hook.hookId } },
});

const Address = ({ path }: Pick<Hook, 'path'>) => (
  <>
    <h3>{t.address}</h3>
    <Copyable value={location.origin + path} label={t.address} />
  </>
);

/** @param hook - with its secret, which is shown this once. */
const ShownSecret = ({ hook, onClose }: { hook: Hook & { secret: string }; onClose: () => void }) => (
  <>
    <Address {...hook} />
    <h3>{t.secret}</h3>
    <p className="warning">{t.shownWarning}</p>
    <Copyable value={hook.secret} label={t.secret} />
    <p className="hint">{t.kindHints[hook.kind]}</p>
    <DoneButton onPress={onClose} />
  </>
);

/** A secret that the source has made; without one, the platform makes it. */
const SecretInput = () => (
  <TextInput
    name="secret"
    label={t.ownSecret}
    hint={t.ownSecretHint}
    autoComplete="off"
    validate={(value) => (value === '' || /^[!-~]{16,256}$/.test(value) ? null : t.secretFault)}
  />
);

const readSecret = (form: FormData) => {
  const secret = readText(form, 'secret');
  return secret === '' ? {} : { secret };
};

export function CreateHook({ connector, onClose }: { connector: string; onClose: () => void }) {
  const [kind, setKind] = useState<Kind>('github');
  return (
    <SecretDialog
      title={t.createTitle}
      shownTitle={t.shownTitle}
      action={t.submit}
      changes={hooksQuery(connector).queryKey}
      act={(form) =>
        unwrap(
          crawl.POST(HOOKS, {
            params: { path: readConnectorKey(connector) },
            body: { kind, description: readText(form, 'description'), ...readSecret(form) },
          }),
        )
      }
      show={({ data }) => <ShownSecret hook={data} onClose={onClose} />}
      onClose={onClose}
    >
      <SelectInput<Kind>
        name="kind"
        label={t.kind}
        hint={t.kindHints[kind]}
        value={kind}
        options={Object.entries(t.kinds) as [Kind, string][]}
        onChange={setKind}
      />
      <TextInput name="description" label={t.description} maxLength={500} />
      <SecretInput />
    </SecretDialog>
  );
}

export const HookAddress = ({ hook, name, onClose }: HookDialogProps) => (
  <ModalDialog title={t.addressTitle(name)} onClose={onClose}>
    <Address {...hook} />
    <p className="hint">{t.kindHints[hook.kind]}</p>
    <DoneButton onPress={onClose} />
  </ModalDialog>
);

export const RotateHook = ({ name, onClose, ...of }: HookDialogProps) => (
  <SecretDialog
    title={t.rotateTitle(name)}
    shownTitle={t.shownTitle}
    action={t.rotateSubmit}
    changes={hooksQuery(of.connector).queryKey}
    act={(form) =>
      unwrap(crawl.POST(`${HOOKS}/{hookId}/rotate`, { ...toParams(of), body: readSecret(form) }))
    }
    show={({ data }) => <ShownSecret hook={data} onClose={onClose} />}
    onClose={onClose}
  >
    <p>{t.rotateHint}</p>
    <SecretInput />
  </SecretDialog>
);

export const RemoveHook = ({ name, onClose, ...of }: HookDialogProps) => (
  <ActionDialog
    title={t.removeTitle(name)}
    action={t.removeSubmit}
    isDangerous
    changes={hooksQuery(of.connector).queryKey}
    act={() => unwrap(crawl.DELETE(`${HOOKS}/{hookId}`, toParams(of)))}
    describe={() => t.removed(name)}
    onClose={onClose}
  >
    <p>{t.removeHint}</p>
  </ActionDialog>
);
