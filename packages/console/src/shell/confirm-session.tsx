import { confirmation as t } from '#text/confirmation';
import { identity, unwrap } from '../api/client.ts';
import { useMe } from '../api/me.ts';
import { Button } from '../ui/button.tsx';
import { FormDialog } from '../ui/dialogs.tsx';
import { TextInput } from '../ui/fields.tsx';
import { readExactText } from '../ui/read-form.ts';
import { useAction } from '../ui/use-action.ts';

/** The page leads back to itself, where it says that this tab can go on. */
const PAGE = `/sign-in/confirm?${new URLSearchParams({ returnTo: '/sign-in/confirm' })}`;

/** Asks for the password before a dangerous act, over whatever asked for the act. */
export function ConfirmSession({ onSettle }: { onSettle: (isConfirmed: boolean) => void }) {
  const { email } = useMe();
  const confirm = useAction({
    mutationFn: (currentPassword: string) =>
      unwrap(identity.POST('/api/v1/sessions/confirm', { body: { currentPassword } })),
    onSuccess: () => onSettle(true),
  });
  return (
    <FormDialog
      title={t.title}
      action={t.submit}
      isPending={confirm.isPending}
      error={confirm.error}
      onClose={() => onSettle(false)}
      onSubmit={(form) => confirm.mutate(readExactText(form, 'currentPassword'))}
    >
      <p>{t.reason}</p>
      {/* Lets password managers know whose password it is. */}
      <input hidden readOnly autoComplete="username" value={email} />
      <TextInput
        name="currentPassword"
        type="password"
        autoComplete="current-password"
        label={t.password(email)}
        isRequired
        autoFocus
        maxLength={256}
      />
      <div className="or-else">
        <p>
          {t.without}{' '}
          <a href={PAGE} target="_blank" rel="noreferrer">
            {t.otherTab}
          </a>
        </p>
        <Button onPress={() => onSettle(true)}>{t.goOn}</Button>
      </div>
    </FormDialog>
  );
}
