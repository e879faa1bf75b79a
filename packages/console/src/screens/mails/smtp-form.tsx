import { smtp as t } from '#text/smtp';
import { useId, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { NumberInput, SelectInput, TextInput } from '../../ui/fields.tsx';
import { GuardedForm, SaveButton } from '../../ui/guarded-form.tsx';
import { readText } from '../../ui/read-form.ts';
import { useAction } from '../../ui/use-action.ts';
import { ConnectionTest } from './connection-test.tsx';
import type { Smtp } from './api.ts';
import { readSignIn, type SignIn, SignInFields } from './smtp-sign-in.tsx';

type Tls = Smtp['tls'];
/** The hosts of providers with a fixed one. */
const hosts: Partial<Record<SignIn, string>> = { microsoft: 'smtp.office365.com', google: 'smtp.gmail.com' };
const tlsOptions = Object.entries(t.tlsModes) as [Tls, string][];

/** The server, and beside it a test of the connection. */
export function SmtpSettings({ smtp }: { smtp: Smtp | null }) {
  const formId = useId();
  const [port, setPort] = useState(smtp?.port ?? 587);
  const [tls, setTls] = useState<Tls>(smtp?.tls ?? 'auto');
  const [host, setHost] = useState(smtp?.host ?? '');
  const [signIn, setSignIn] = useState<SignIn>(smtp?.auth?.provider ?? 'password');
  const changeSignIn = (next: SignIn) => {
    setSignIn(next);
    if (host === '' || host === hosts[signIn]) setHost(hosts[next] ?? '');
  };
  const read = (form: FormData) => ({
    host: host.trim(),
    fromEmail: readText(form, 'fromEmail'),
    port,
    tls,
    ...readSignIn(form, signIn),
  });
  const save = useAction({
    mutationFn: (form: FormData) =>
      unwrap(identity.POST('/api/v1/configurationManager/smtpConfig', { body: read(form) })),
    onSuccess: () => announce(t.saved),
    changes: [['smtp']],
  });
  return (
    <div className="columns">
      <GuardedForm
        id={formId}
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
          <SelectInput<Tls> name="tls" label={t.tls} value={tls} options={tlsOptions} onChange={setTls} />
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
      <ConnectionTest
        formId={formId}
        read={(form) => {
          const typed = read(form);
          return isSaved(typed, smtp) ? undefined : typed;
        }}
      />
    </div>
  );
}

/** Whether the form is as it was saved. The secrets are not in it then: the stored ones can be tested. */
function isSaved(typed: object, smtp: Smtp | null): boolean {
  if (!smtp) return false;
  const { certificateExpiresAt: _expiry, serviceAccount: _account, ...auth } = smtp.auth ?? {};
  const saved = { ...smtp, ...(smtp.auth && { auth }) };
  return toSorted(typed) === toSorted(saved);
}

const toSorted = (value: object): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object'
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
