import { smtp as t } from '#text/smtp';
import { useState } from 'react';
import { SelectInput, TextInput } from '../../ui/fields.tsx';
import { readExactText, readText } from '../../ui/read-form.ts';
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
  const [username, password] = [readText(form, 'username'), readExactText(form, 'password')];
  const user = username && { username };
  if (signIn === 'password') return { ...user, ...(password && { password }) };
  const entries = [...openFields, ...secretFields].map((name) => [name, readText(form, name)] as const);
  const given = Object.fromEntries(entries.filter(([, value]) => value !== ''));
  return { ...user, auth: { type: 'oauth2' as const, provider: signIn, ...given } };
}

interface SignInFieldsProps {
  readonly smtp: Smtp | null;
  readonly value: SignIn;
  onChange(value: SignIn): void;
}

/** How mail signs in to the SMTP server. */
export function SignInFields({ smtp, value, onChange }: SignInFieldsProps) {
  const auth = smtp?.auth?.provider === value ? smtp.auth : undefined;
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
      {value === 'password' && <Secret name="password" label={t.password} hint={t.passwordHint} />}
      {value === 'microsoft' && <MicrosoftFields auth={auth} />}
      {value === 'google' && (
        <TextInput
          name="serviceAccountKey"
          label={t.serviceAccountKey}
          hint={auth?.serviceAccount ? t.serviceAccountNow(auth.serviceAccount) : t.serviceAccountHint}
          autoComplete="off"
          isRequired
          isLong
        />
      )}
      {value === 'custom' && <CustomFields auth={auth} />}
    </>
  );
}

const Secret = (props: { name: string; label: string; hint: string; isRequired?: boolean }) => (
  <TextInput {...props} type="password" autoComplete="new-password" />
);

function MicrosoftFields({ auth }: { auth: SmtpAuth | undefined }) {
  const [credential, setCredential] = useState<Credential>(
    auth?.certificateExpiresAt === undefined ? 'secret' : 'certificate',
  );
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
        <Secret name="clientSecret" label={t.clientSecret} hint={t.secretHint} isRequired />
      ) : (
        <TextInput
          name="certificate"
          label={t.certificate}
          hint={t.certificateHint}
          autoComplete="off"
          isRequired
          isLong
        />
      )}
    </>
  );
}

const CustomFields = ({ auth }: { auth: SmtpAuth | undefined }) => (
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
    <Secret name="clientSecret" label={t.clientSecret} hint={t.clientSecretHint} />
    <Secret name="refreshToken" label={t.refreshToken} hint={t.refreshTokenHint} isRequired />
    <TextInput name="scope" label={t.scope} hint={t.scopeHint} defaultValue={auth?.scope ?? ''} />
  </>
);
