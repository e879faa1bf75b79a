import { smtp as t } from '#text/smtp';
import { useId, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { NumberInput, SelectInput, TextInput } from '../../ui/fields.tsx';
import { GuardedForm, SaveButton } from '../../ui/guarded-form.tsx';
import { readText } from '../../ui/read-form.ts';
import { useAction } from '../../ui/use-action.ts';
import { ConnectionTest, TestMail, type TestedSmtp } from './connection-test.tsx';
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
  const [saves, setSaves] = useState(0);
  const [signIn, setSignIn] = useState<SignIn>(smtp?.auth?.provider ?? 'password');
  const changeSignIn = (next: SignIn) => {
    setSignIn(next);
    if (host === '' || host === hosts[signIn]) setHost(hosts[next] ?? '');
  };
  const read = (form: FormData): Typed => ({
    host: host.trim(),
    fromEmail: readText(form, 'fromEmail'),
    port,
    tls,
    ...readSignIn(form, signIn),
  });
  const save = useAction({
    mutationFn: (form: FormData) =>
      unwrap(identity.POST('/api/v1/configurationManager/smtpConfig', { body: read(form) })),
    onSuccess() {
      announce(t.saved);
      setSaves((count) => count + 1);
    },
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
        <SignInFields smtp={smtp} saves={saves} value={signIn} onChange={changeSignIn} />
      </GuardedForm>
      <div className="form">
        <ConnectionTest
          formId={formId}
          read={(form) => {
            const typed = read(form);
            return isSaved(typed, smtp) ? undefined : toTested(typed);
          }}
        />
        {smtp && <TestMail />}
      </div>
    </div>
  );
}

type Typed = ReturnType<typeof readSignIn> & Pick<Smtp, 'host' | 'port' | 'fromEmail' | 'tls'>;

/**
 * Whether the server and the sign-in are as they were saved. The secrets are not in the form then: the stored ones can be
 * tested, and the sender makes no difference to that.
 */
function isSaved({ fromEmail: _typed, ...typed }: Typed, smtp: Smtp | null): boolean {
  if (!smtp) return false;
  const { fromEmail: _saved, hasPassword: _has, auth, ...server } = smtp;
  const {
    certificateExpiresAt: _expiry,
    serviceAccount: _account,
    hasClientSecret: _secret,
    ...open
  } = auth ?? {};
  return toSorted(typed) === toSorted({ ...server, ...(auth && { auth: open }) });
}

/** Leaves out the secrets that are removed. */
const toTested = (typed: Typed): TestedSmtp =>
  JSON.parse(
    JSON.stringify(typed, (_key, part: unknown) => (part === null ? undefined : part)),
  ) as TestedSmtp;

const toSorted = (value: object): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object'
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
