import { smtp as t } from '#text/smtp';
import { useState } from 'react';
import { SelectInput, TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { readSecret, SecretInput } from '../../ui/secret-input.tsx';
import type { Smtp, SmtpAuth } from './api.ts';

type Provider = SmtpAuth['provider'];
export type SignIn = 'password' | Provider;
const signIns = Object.entries(t.signIns) as [SignIn, string][];
type Credential = 'secret' | 'certificate';
const credentials = Object.entries(t.credentials) as [Credential, string][];

const secretFields = ['clientSecret', 'certificate', 'serviceAccountKey', 'refreshToken'] as const;
const openFields = ['tenant', 'clientId', 'tokenUrl', 'scope'] as const;

/** Reads how the server is signed in to. Only the fields of the chosen way are in the form. */
export function readSignIn(form: FormData, signIn: SignIn) {
  const username = readText(form, 'username');
  const user = username && { username };
  if (signIn === 'password') {
    const password = readSecret(form, 'password');
    return { ...user, ...(username !== '' && password !== undefined && { password }) };
  }
  const open = openFields.map((name) => [name, readText(form, name) || undefined] as const);
  const secrets = secretFields.map((name) => [name, readSecret(form, name)] as const);
  const given = Object.fromEntries([...open, ...secrets].filter(([, value]) => value !== undefined));
  return { ...user, auth: { type: 'oauth2' as const, provider: signIn, ...given } };
}

interface SignInFieldsProps {
  readonly smtp: Smtp | null;
  /** Grows with each save: the secrets that were typed are gone then. */
  readonly saves: number;
  readonly value: SignIn;
  onChange(value: SignIn): void;
}

/** How mail signs in to the SMTP server. */
export function SignInFields({ smtp, saves, value, onChange }: SignInFieldsProps) {
  const auth = smtp?.auth?.provider === value ? smtp.auth : undefined;
  const stored = auth !== undefined;
  return (
    <>
      <SelectInput<SignIn> label={t.signIn} value={value} options={signIns} onChange={onChange} />
      <TextInput
        name="username"
        label={value === 'password' ? t.username : t.mailbox}
        hint={value === 'password' ? t.usernameHint : t.mailboxHint}
        defaultValue={smtp?.username ?? ''}
        autoComplete="off"
        isRequired={value !== 'password'}
      />
      {value === 'password' && (
        <SecretInput
          key={saves}
          name="password"
          label={t.password}
          isStored={smtp?.hasPassword === true}
          removal={t.removePassword}
        />
      )}
      {value === 'microsoft' && <MicrosoftFields auth={auth} saves={saves} />}
      {value === 'google' && (
        <SecretInput
          key={saves}
          name="serviceAccountKey"
          label={t.serviceAccountKey}
          hint={t.serviceAccountHint}
          isStored={stored}
          isRequired
          isLong
        />
      )}
      {value === 'custom' && <CustomFields auth={auth} saves={saves} />}
    </>
  );
}

interface ProviderFieldsProps {
  readonly auth: SmtpAuth | undefined;
  readonly saves: number;
}

function MicrosoftFields({ auth, saves }: ProviderFieldsProps) {
  const kept = auth?.certificateExpiresAt === undefined ? 'secret' : 'certificate';
  const [credential, setCredential] = useState<Credential>(kept);
  const stored = auth && kept;
  return (
    <>
      <TextInput
        name="tenant"
        label={t.tenant}
        hint={t.tenantHint}
        defaultValue={auth?.tenant ?? ''}
        isRequired
      />
      <TextInput name="clientId" label={t.applicationId} defaultValue={auth?.clientId ?? ''} isRequired />
      <SelectInput<Credential>
        label={t.credential}
        value={credential}
        options={credentials}
        onChange={setCredential}
      />
      {credential === 'secret' ? (
        <SecretInput
          key={saves}
          name="clientSecret"
          label={t.clientSecret}
          hint={t.secretHint}
          isStored={stored === 'secret'}
          isRequired
        />
      ) : (
        <SecretInput
          key={saves}
          name="certificate"
          label={t.certificate}
          hint={t.certificateHint}
          isStored={stored === 'certificate'}
          isRequired
          isLong
        />
      )}
    </>
  );
}

const CustomFields = ({ auth, saves }: ProviderFieldsProps) => (
  <>
    <TextInput
      name="tokenUrl"
      type="url"
      label={t.tokenUrl}
      defaultValue={auth?.tokenUrl ?? ''}
      isRequired
      maxLength={2_048}
    />
    <TextInput name="clientId" label={t.clientId} defaultValue={auth?.clientId ?? ''} isRequired />
    <SecretInput
      key={saves}
      name="clientSecret"
      label={t.clientSecret}
      hint={t.clientSecretHint}
      isStored={auth?.hasClientSecret === true}
      removal={t.removeClientSecret}
    />
    <SecretInput
      key={saves}
      name="refreshToken"
      label={t.refreshToken}
      hint={t.refreshTokenHint}
      isStored={auth !== undefined}
      isRequired
    />
    <TextInput name="scope" label={t.scope} hint={t.scopeHint} defaultValue={auth?.scope ?? ''} />
  </>
);
