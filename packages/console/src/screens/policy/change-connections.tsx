import { connectionPolicy } from '#text/connection-policy';
import { useState } from 'react';
import { CheckboxGroup, Label } from 'react-aria-components';
import { DialogForm } from '../../ui/dialogs.tsx';
import { CheckboxRow, NumberInput, RadioCards, TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { readRanges } from '../tokens/ranges.ts';
import { ConnectionEffects } from './connection-effects.tsx';
import { PolicyDialog, type PolicyFormProps } from './policy-dialog.tsx';
import { type ClientKind, type ConnectionPolicy, MAX_DAYS, sendConnectionPolicy } from './connections.ts';

const t = connectionPolicy.dialog;
const kinds = Object.entries(connectionPolicy.kindNames) as [ClientKind, string][];
type Connector = ConnectionPolicy['connectableBy'];
const connectors = (['members', 'administrators'] as const).map((key) => ({
  key,
  label: connectionPolicy.byNames[key],
  hint: t.byHints[key],
}));

const readHosts = (fields: FormData, name: string): string[] =>
  readRanges(readText(fields, name).toLowerCase());

interface ChangeConnectionsProps {
  readonly policy: ConnectionPolicy;
  readonly isRegistrationOpen: boolean;
  onClose(): void;
}

/** Changes the policy after a look at the connections that it ends. */
export const ChangeConnections = ({ policy, isRegistrationOpen, onClose }: ChangeConnectionsProps) => (
  <PolicyDialog
    title={t.title}
    policy={policy}
    changes={[['connection-policy'], ['apps']]}
    check={(next) => sendConnectionPolicy(next, { dryRun: true })}
    save={(next) => sendConnectionPolicy(next, { dryRun: false })}
    describe={({ endedCount }) => connectionPolicy.saved(endedCount)}
    renderForm={(form) => <PolicyForm {...form} isRegistrationOpen={isRegistrationOpen} />}
    renderEffect={(effects) => <ConnectionEffects {...effects} />}
    onClose={onClose}
  />
);

function PolicyForm({
  policy,
  isRegistrationOpen,
  onCheck,
  ...form
}: PolicyFormProps<ConnectionPolicy> & { readonly isRegistrationOpen: boolean }) {
  // What nobody can do is offered only where it was chosen before, to be taken back.
  const offered = kinds.filter(
    ([kind]) => kind !== 'registered' || isRegistrationOpen || policy.clientKinds.includes(kind),
  );
  const [clientKinds, setKinds] = useState<readonly ClientKind[]>(policy.clientKinds);
  const [connectableBy, setConnector] = useState<Connector>(policy.connectableBy);
  const [days, setDays] = useState(policy.maxLifetimeDays ?? MAX_DAYS);
  return (
    <DialogForm
      action={t.next}
      {...form}
      onSubmit={(fields) =>
        onCheck({
          clientKinds: [...clientKinds],
          ...(clientKinds.includes('document')
            ? { hosts: readHosts(fields, 'hosts'), additionalHosts: readHosts(fields, 'additionalHosts') }
            : { hosts: policy.hosts, additionalHosts: policy.additionalHosts }),
          connectableBy,
          maxLifetimeDays: days === MAX_DAYS ? null : days,
        })
      }
    >
      <CheckboxGroup
        name="clientKinds"
        className="field"
        value={[...clientKinds]}
        onChange={(chosen) => setKinds(chosen as ClientKind[])}
      >
        <Label>{connectionPolicy.kinds}</Label>
        <div className="scopes">
          {offered.map(([kind, name]) => (
            <CheckboxRow
              key={kind}
              value={kind}
              hint={kind === 'registered' && !isRegistrationOpen ? t.registrationOff : t.kindHints[kind]}
            >
              {name}
            </CheckboxRow>
          ))}
        </div>
      </CheckboxGroup>
      {clientKinds.includes('document') && (
        <>
          <TextInput
            name="hosts"
            label={connectionPolicy.hosts}
            hint={t.hostsHint}
            isLong
            defaultValue={policy.hosts.join('\n')}
          />
          <TextInput
            name="additionalHosts"
            label={connectionPolicy.additionalHosts}
            hint={t.additionalHostsHint}
            isLong
            defaultValue={policy.additionalHosts.join('\n')}
          />
        </>
      )}
      <RadioCards<Connector>
        label={connectionPolicy.by}
        value={connectableBy}
        options={connectors}
        onChange={setConnector}
      />
      <NumberInput
        name="maxLifetimeDays"
        label={t.days}
        value={days}
        minValue={1}
        maxValue={MAX_DAYS}
        onChange={setDays}
      />
    </DialogForm>
  );
}
