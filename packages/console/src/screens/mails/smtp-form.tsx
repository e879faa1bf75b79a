import { smtp as t } from '#text/smtp';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { NumberInput, SelectInput, TextInput } from '../../ui/fields.tsx';
import { GuardedForm, SaveButton } from '../../ui/guarded-form.tsx';
import { readText } from '../../ui/read-form.ts';
import { ConnectionTest } from './connection-test.tsx';
import type { Smtp } from './api.ts';
import { readSignIn, type SignIn, SignInFields } from './smtp-sign-in.tsx';

type Tls = Smtp['tls'];
/** The hosts of those who have one. */
const hosts: Partial<Record<SignIn, string>> = { microsoft: 'smtp.office365.com', google: 'smtp.gmail.com' };
const tlsOptions = Object.entries(t.tlsModes) as [Tls, string][];

/** The server, and beside it a test of the connection. */
export const SmtpSettings = ({ smtp }: { smtp: Smtp | null }) => (
  <div className="columns">
    <SmtpForm smtp={smtp} />
    <ConnectionTest isConfigured={smtp !== null} />
  </div>
);

function SmtpForm({ smtp }: { smtp: Smtp | null }) {
  const client = useQueryClient();
  const [port, setPort] = useState(smtp?.port ?? 587);
  const [tls, setTls] = useState<Tls>(smtp?.tls ?? 'auto');
  const [host, setHost] = useState(smtp?.host ?? '');
  const [signIn, setSignIn] = useState<SignIn>(smtp?.auth?.provider ?? 'password');
  const changeSignIn = (next: SignIn) => {
    setSignIn(next);
    if (host === '' || host === hosts[signIn]) setHost(hosts[next] ?? '');
  };
  const save = useMutation({
    mutationFn: (form: FormData) => {
      const body = { host: host.trim(), fromEmail: readText(form, 'fromEmail'), port, tls };
      return unwrap(
        identity.POST('/api/v1/configurationManager/smtpConfig', {
          body: { ...body, ...readSignIn(form, signIn) },
        }),
      );
    },
    onSuccess: () => announce(t.saved),
    onSettled: () => client.invalidateQueries({ queryKey: ['smtp'] }),
  });
  return (
    <GuardedForm
      isPending={save.isPending}
      error={save.error}
      onSubmit={(form) => save.mutate(form)}
      footer={<SaveButton isPending={save.isPending} />}
    >
      <TextInput name="host" label={t.host} value={host} onChange={setHost} isRequired maxLength={253} />
      <div className="row">
        <NumberInput
          name="port"
          label={t.port}
          value={port}
          minValue={1}
          maxValue={65_535}
          onChange={setPort}
        />
        <SelectInput<Tls> label={t.tls} value={tls} options={tlsOptions} onChange={setTls} />
      </div>
      <TextInput
        name="fromEmail"
        type="email"
        label={t.from}
        hint={t.fromHint}
        defaultValue={smtp?.fromEmail ?? ''}
        isRequired
      />
      <SignInFields smtp={smtp} value={signIn} onChange={changeSignIn} />
    </GuardedForm>
  );
}
