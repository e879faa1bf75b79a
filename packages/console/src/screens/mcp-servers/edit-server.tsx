import { mcpServers as t } from '#text/mcp-servers';
import { text } from '#text/shared';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { CheckboxGroup, Label, Text } from 'react-aria-components';
import { Advanced, CheckboxRow, SelectInput, TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { readSecret, SecretInput } from '../../ui/secret-input.tsx';
import { AccessInput, readAccess } from '../groups/access-input.tsx';
import { findInvalidLine, readRules, writeRules } from './rules.ts';
import { type Claim, claims, type CredentialKind, type GroupValue, type Server } from './api.ts';

const credentialOptions = Object.entries(t.credentials) as [CredentialKind, string][];
const groupValueOptions = Object.entries(t.groupValues) as [GroupValue, string][];

const MIB = 1_048_576;
/** The choices are in MiB, up to the limit of the platform. */
const ANSWER_SIZES = ['1', '2', '3', '4'] as const;
type AnswerSize = (typeof ANSWER_SIZES)[number];

interface EditServerProps {
  readonly server: Server;
  onClose(): void;
}

export const CreateServer = ({ onClose }: { onClose: () => void }) => (
  <ActionDialog
    title={t.create}
    action={t.createSubmit}
    isWide
    changes={['mcp-servers']}
    act={(form) =>
      unwrap(
        identity.POST('/api/v1/mcp-servers', {
          body: {
            ...readFields(form),
            ...readAnswerSize(form),
            credential: readCredential(form) ?? { kind: 'none' },
          },
        }),
      )
    }
    describe={({ server }) => t.created(server.name)}
    onClose={onClose}
  >
    <ServerFields />
  </ActionDialog>
);

export const EditServer = ({ server, onClose }: EditServerProps) => (
  <ActionDialog
    title={t.editTitle(server.name)}
    action={text.save}
    isWide
    changes={['mcp-servers']}
    act={(form) => {
      const credential = readCredential(form);
      return unwrap(
        identity.PATCH('/api/v1/mcp-servers/{id}', {
          params: { path: { id: server.id } },
          body: { ...readFields(form), ...readAnswerSize(form, server), ...(credential && { credential }) },
        }),
      );
    }}
    describe={() => t.saved}
    onClose={onClose}
  >
    <ServerFields server={server} />
  </ActionDialog>
);

const readFields = (form: FormData) => ({
  name: readText(form, 'name'),
  url: readText(form, 'url'),
  rules: readRules(readText(form, 'rules')),
  ...readAccess(form),
  connectors: readText(form, 'connectors')
    .split(/[\s,]+/)
    .filter(Boolean) as Server['connectors'],
});

const toSize = (bytes: number): AnswerSize => ANSWER_SIZES.find((one) => Number(one) * MIB >= bytes) ?? '4';

/** Returns nothing while the choice is unchanged: the API allows sizes between the offered ones. */
function readAnswerSize(form: FormData, server?: Server) {
  const size = readText(form, 'maxAnswerBytes');
  return size === toSize(server?.maxAnswerBytes ?? MIB) ? {} : { maxAnswerBytes: Number(size) * MIB };
}

/** Returns undefined when the secret that is stored is kept. */
function readCredential(form: FormData) {
  const kind = readText(form, 'credential');
  if (kind === 'none') return { kind } as const;
  if (kind === 'assertion') {
    const chosen = form.getAll('claims');
    const groupValues = readText(form, 'groupValues') as GroupValue | '';
    return {
      kind,
      claims: claims.filter((claim) => chosen.includes(claim)),
      ...(groupValues !== '' && { groupValues }),
    } as const;
  }
  const value = readSecret(form, 'value');
  if (kind === 'oauth') {
    const [clientId, scope] = [readText(form, 'clientId'), readText(form, 'scope')];
    return {
      kind,
      ...(clientId !== '' && { clientId }),
      ...(clientId !== '' && value && { clientSecret: value }),
      ...(scope !== '' && { scope }),
    } as const;
  }
  if (kind === 'personal') {
    const [hint, link] = [readText(form, 'hint'), readText(form, 'link')];
    // A blank at its end belongs to what stands before a secret.
    const prefix = form.get('prefix');
    return {
      kind,
      header: readText(form, 'header').toLowerCase(),
      ...(typeof prefix === 'string' && { prefix }),
      ...(hint !== '' && { hint }),
      ...(link !== '' && { link }),
      ...(value !== undefined && { value }),
    } as const;
  }
  if (!value) return undefined;
  return { kind: 'secret', header: readText(form, 'header').toLowerCase(), value } as const;
}

function ServerFields({ server }: { server?: Server }) {
  const stored = server?.credential.kind ?? 'none';
  const [kind, setKind] = useState<CredentialKind>(stored);
  const storedHeader = stored === 'secret' ? server?.credential.header : undefined;
  const [header, setHeader] = useState(storedHeader ?? 'authorization');
  // A secret stays with the header that it was given for.
  const isStored = header.trim().toLowerCase() === storedHeader;
  const [size, setSize] = useState(toSize(server?.maxAnswerBytes ?? MIB));
  const rules = (
    <TextInput
      name="rules"
      label={t.rules}
      hint={t.rulesHint}
      isLong
      placeholder="*_search kb:read"
      validate={(value) => {
        const line = findInvalidLine(value);
        return line === undefined ? null : t.rulesInvalid(line);
      }}
      defaultValue={writeRules(server?.rules ?? [])}
    />
  );
  return (
    <>
      <TextInput
        name="name"
        label={t.name}
        hint={t.nameHint}
        isRequired
        maxLength={32}
        autoFocus
        defaultValue={server?.name ?? ''}
      />
      <TextInput
        name="url"
        type="url"
        label={t.url}
        hint={t.urlHint}
        isRequired
        maxLength={2_048}
        placeholder="https://"
        defaultValue={server?.url ?? ''}
      />
      <SelectInput<CredentialKind>
        name="credential"
        label={t.credential}
        value={kind}
        options={credentialOptions}
        onChange={setKind}
      />
      {kind === 'secret' && (
        <div className="row">
          <TextInput name="header" label={t.header} isRequired value={header} onChange={setHeader} />
          <SecretInput
            name="value"
            label={t.secret}
            hint={t.secretHint}
            isStored={isStored}
            isRequired
            maxLength={4_096}
          />
        </div>
      )}
      {kind === 'assertion' && <ClaimFields credential={server?.credential} />}
      {kind === 'personal' && <PersonalFields credential={server?.credential} />}
      {kind === 'oauth' && <OauthFields credential={server?.credential} />}
      <AccessInput allowed={server?.allowedGroups ?? null} />
      {server && rules}
      <TextInput
        name="connectors"
        label={t.connectors}
        hint={t.connectorsHint}
        placeholder="files_1 code_1"
        defaultValue={server?.connectors.join(' ') ?? ''}
      />
      <Advanced label={t.advanced}>
        {/* Before the server is added, nobody knows the names that patterns could match. */}
        {!server && rules}
        <SelectInput<AnswerSize>
          name="maxAnswerBytes"
          label={t.answerSize}
          hint={t.answerSizeHint}
          value={size}
          options={ANSWER_SIZES.map((one) => [one, `${one} MiB`])}
          onChange={setSize}
        />
      </Advanced>
    </>
  );
}

/** How the platform is known where members sign in. Most servers let it register itself. */
function OauthFields({ credential }: { credential: Server['credential'] | undefined }) {
  const stored = credential?.kind === 'oauth' ? credential : undefined;
  const [clientId, setClientId] = useState(stored?.clientId ?? '');
  return (
    <>
      <TextInput
        name="clientId"
        label={t.oauth.clientId}
        hint={t.oauth.clientIdHint}
        maxLength={2_048}
        value={clientId}
        onChange={setClientId}
      />
      {clientId.trim() !== '' && (
        <>
          <SecretInput
            name="value"
            label={t.oauth.clientSecret}
            hint={t.oauth.clientSecretHint}
            isStored={clientId.trim() === stored?.clientId}
            maxLength={4_096}
          />
          <p>
            {t.oauth.redirect}: <code>{`${location.origin}/oauth2/upstream/callback`}</code>
          </p>
        </>
      )}
      <TextInput
        name="scope"
        label={t.oauth.scope}
        hint={t.oauth.scopeHint}
        maxLength={1_000}
        defaultValue={stored?.scope ?? ''}
      />
    </>
  );
}

/** What each member needs to know to get a key of their own, and how it is sent. */
function PersonalFields({ credential }: { credential: Server['credential'] | undefined }) {
  const stored = credential?.kind === 'personal' ? credential : undefined;
  const [header, setHeader] = useState(stored?.header ?? 'authorization');
  const isStored = stored?.hasListingSecret === true && header.trim().toLowerCase() === stored.header;
  return (
    <>
      <TextInput
        name="hint"
        label={t.personal.hint}
        hint={t.personal.hintHint}
        isLong
        maxLength={500}
        defaultValue={stored?.hint ?? ''}
      />
      <TextInput
        name="link"
        type="url"
        label={t.personal.link}
        placeholder="https://"
        maxLength={2_048}
        defaultValue={stored?.link ?? ''}
      />
      <TextInput name="header" label={t.header} isRequired value={header} onChange={setHeader} />
      <TextInput
        name="prefix"
        label={t.personal.prefix}
        hint={t.personal.prefixHint}
        maxLength={32}
        defaultValue={stored?.prefix ?? 'Bearer '}
      />
      <SecretInput
        name="value"
        label={t.personal.listing}
        hint={t.personal.listingHint}
        isStored={isStored}
        removal={t.personal.listingRemoval}
        maxLength={4_096}
      />
    </>
  );
}

/** What the server is told of whoever calls. Nothing is chosen until an administrator does so: an address is personal data. */
function ClaimFields({ credential }: { credential: Server['credential'] | undefined }) {
  const [chosen, setChosen] = useState<readonly string[]>(credential?.claims ?? []);
  const [values, setValues] = useState<GroupValue>(credential?.groupValues ?? 'name');
  return (
    <>
      <CheckboxGroup name="claims" className="field" value={[...chosen]} onChange={setChosen}>
        <Label>{t.claims}</Label>
        <Text slot="description" className="hint">
          {t.claimsHint}
        </Text>
        {claims.map((claim: Claim) => (
          <CheckboxRow key={claim} value={claim} hint={t.claimHints[claim]}>
            {t.claimNames[claim]}
          </CheckboxRow>
        ))}
      </CheckboxGroup>
      {chosen.includes('groups') && (
        <SelectInput<GroupValue>
          name="groupValues"
          label={t.groupValue}
          hint={t.groupValueHint}
          value={values}
          options={groupValueOptions}
          onChange={setValues}
        />
      )}
    </>
  );
}
