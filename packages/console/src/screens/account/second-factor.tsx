import { account } from '#text/account';
import type { IdentitySchemas } from '@platform/clients/types';
import { useQuery } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { Setting } from '../../ui/page.tsx';
import { LoadingLine } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';

const t = account.secondFactor;

type State = IdentitySchemas['schemas']['SecondFactor'];

/** Shows the person's second factor; a page of the sign-in changes it. */
export function SecondFactor() {
  const { data, error } = useQuery({
    queryKey: ['second-factor'],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/auth/second-factor', { signal }))).secondFactor,
    // It is changed on another page, from which the browser may come back at any time.
    staleTime: 0,
  });
  return (
    <Setting
      title={t.title}
      action={
        <a className="button plain" href="/sign-in/security?returnTo=/account">
          {data && !data.totp && data.passkeys.length === 0 ? t.setUp : t.change}
        </a>
      }
    >
      {data ? <Summary state={data} /> : error ? t.unknown : <LoadingLine />}
    </Setting>
  );
}

function Summary({ state: { totp, passkeys, recoveryCodesLeft, isRequired } }: { state: State }) {
  if (!totp && passkeys.length === 0) return `${t.off}${isRequired ? ` ${t.required}` : ''}`;
  return (
    <>
      {totp && (
        <>
          {t.app} <Time at={totp.createdAt} as="day" />.{' '}
        </>
      )}
      {passkeys.length > 0 && `${t.passkeys(passkeys.map(({ name }) => name))} `}
      {t.codesLeft(recoveryCodesLeft)}
    </>
  );
}
