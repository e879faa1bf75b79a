import { text } from '#text/shared';
import { useNavigate } from '@tanstack/react-router';
import { identity } from '../api/client.ts';
import { useMe } from '../api/me.ts';
import { Problem } from '../api/problem.ts';
import { MenuButton } from '../ui/menu-button.tsx';
import { reportProblem } from '../ui/reported-problem.tsx';
import { useAction } from '../ui/use-action.ts';

const toInitials = (name: string): string =>
  name
    .split(/\s+/)
    .map((word) => word[0] ?? '')
    .slice(0, 2)
    .join('')
    .toUpperCase();

/** Shows who is signed in, with a menu to sign out. */
export function Person({ onShortcuts }: { onShortcuts: () => void }) {
  const me = useMe();
  const navigate = useNavigate();
  const signOut = useAction({
    mutationFn: () => identity.POST('/api/v1/auth/logout'),
    onSuccess: () => location.assign('/sign-in'),
    onError: (error) => {
      // The session was over already.
      if (error instanceof Problem && error.status === 401) location.assign('/sign-in');
      else reportProblem(error);
    },
  });
  return (
    <MenuButton
      className="person"
      placement="top start"
      header={
        <>
          {me.email}
          <small>{text.roles[me.role as keyof typeof text.roles]}</small>
        </>
      }
      actions={[
        { label: text.screens.account, run: () => void navigate({ to: '/account' }) },
        { label: text.places.guides, run: () => void navigate({ to: '/guides' }) },
        { label: text.apiDocs, run: () => location.assign('/docs') },
        { label: text.shortcuts, run: onShortcuts },
        { label: text.signOut, run: () => signOut.mutate() },
      ]}
    >
      <span className="unseen">{text.signedInAs} </span>
      <span className="initials" aria-hidden="true">
        {toInitials(me.fullName)}
      </span>
      <span className="name">
        <span title={me.fullName}>{me.fullName}</span>
        <small title={me.email}>{me.email}</small>
      </span>
    </MenuButton>
  );
}
