import { connectionPolicy } from '#text/connection-policy';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CheckboxGroup, Label } from 'react-aria-components';
import { announce } from '../../ui/announcements.tsx';
import { DialogForm, ModalDialog } from '../../ui/dialogs.tsx';
import { CheckboxRow, NumberInput, RadioCards, TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { readRanges } from '../tokens/ranges.ts';
import { ConnectionEffects } from './connection-effects.tsx';
import { type ClientKind, type ConnectionPolicy, MAX_DAYS, sendConnectionPolicy } from './connections.ts';

const t = connectionPolicy.dialog;
const kinds = Object.entries(connectionPolicy.kindNames) as [ClientKind, string][];
type Connector = ConnectionPolicy['connectableBy'];
const connectors = (['members', 'administrators'] as const).map((key) => ({
  key,
  label: connectionPolicy.byNames[key],
  hint: t.byHints[key],
}));

interface ChangeConnectionsProps {
  readonly policy: ConnectionPolicy;
  onClose(): void;
}

/** Changes the policy in two steps: what it should be, then which connections that ends. */
export function ChangeConnections({ policy, onClose }: ChangeConnectionsProps) {
  const client = useQueryClient();
  // Kept here, so that going back loses nothing.
  const [draft, setDraft] = useState(policy);
  const check = useMutation({
    mutationFn: (next: ConnectionPolicy) => sendConnectionPolicy(next, { dryRun: true }),
  });
  const save = useMutation({
    mutationFn: () => sendConnectionPolicy(draft, { dryRun: false }),
    onSuccess: ({ endedCount }) => {
      announce(connectionPolicy.saved(endedCount));
      onClose();
    },
    onSettled: () =>
      Promise.all(['connection-policy', 'apps'].map((key) => client.invalidateQueries({ queryKey: [key] }))),
  });
  return (
    <ModalDialog title={t.title} isWide onClose={onClose}>
      {check.data ? (
        <ConnectionEffects
          effect={check.data}
          isPending={save.isPending}
          error={save.error}
          onBack={() => {
            save.reset();
            check.reset();
          }}
          onSave={() => save.mutate()}
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
  readonly policy: ConnectionPolicy;
  readonly isPending: boolean;
  readonly error: unknown;
  onClose(): void;
  onCheck(next: ConnectionPolicy): void;
}

function PolicyForm({ policy, onCheck, ...form }: PolicyFormProps) {
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
          hosts: clientKinds.includes('document')
            ? readRanges(readText(fields, 'hosts').toLowerCase())
            : policy.hosts,
          connectableBy,
          maxLifetimeDays: days === MAX_DAYS ? null : days,
        })
      }
    >
      <CheckboxGroup
        className="field"
        value={[...clientKinds]}
        onChange={(chosen) => setKinds(chosen as ClientKind[])}
      >
        <Label>{connectionPolicy.kinds}</Label>
        <div className="scopes">
          {kinds.map(([kind, name]) => (
            <CheckboxRow key={kind} value={kind} hint={t.kindHints[kind]}>
              {name}
            </CheckboxRow>
          ))}
        </div>
      </CheckboxGroup>
      {clientKinds.includes('document') && (
        <TextInput
          name="hosts"
          label={connectionPolicy.hosts}
          hint={t.hostsHint}
          isLong
          defaultValue={policy.hosts.join('\n')}
        />
      )}
      <RadioCards<Connector>
        label={connectionPolicy.by}
        value={connectableBy}
        options={connectors}
        onChange={setConnector}
      />
      <NumberInput label={t.days} value={days} minValue={1} maxValue={MAX_DAYS} onChange={setDays} />
    </DialogForm>
  );
}
