import { text } from '#text/shared';
import { smtp as t } from '#text/smtp';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { Button } from '../../ui/button.tsx';
import { NumberInput, SelectInput, TextInput } from '../../ui/fields.tsx';
import { GuardedForm } from '../../ui/guarded-form.tsx';
import { readExactText, readText } from '../../ui/read-form.ts';
import { ConnectionTest } from './connection-test.tsx';
import type { Smtp } from './api.ts';

type Tls = Smtp['tls'];
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
  const save = useMutation({
    mutationFn: (form: FormData) => {
      const [username, password] = [readText(form, 'username'), readExactText(form, 'password')];
      const body = { host: readText(form, 'host'), fromEmail: readText(form, 'fromEmail'), port, tls };
      return unwrap(
        identity.POST('/api/v1/configurationManager/smtpConfig', {
          body: { ...body, ...(username && { username }), ...(password && { password }) },
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
      footer={
        <div className="actions">
          <Button type="submit" kind="primary" isPending={save.isPending}>
            {text.save}
          </Button>
        </div>
      }
    >
      <TextInput name="host" label={t.host} defaultValue={smtp?.host ?? ''} isRequired maxLength={253} />
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
      <TextInput
        name="username"
        label={t.username}
        hint={t.usernameHint}
        defaultValue={smtp?.username ?? ''}
        autoComplete="off"
      />
      <TextInput
        name="password"
        type="password"
        label={t.password}
        hint={t.passwordHint}
        autoComplete="new-password"
      />
    </GuardedForm>
  );
}
