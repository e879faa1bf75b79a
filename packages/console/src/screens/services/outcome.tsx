import { services as t } from '#text/services';
import { useSearch } from '@tanstack/react-router';

/** How the sign-in ended that the browser comes back from. */
export function Outcome() {
  const { signIn }: { signIn?: string } = useSearch({ strict: false });
  const found = Object.entries(t.outcomes).find(([outcome]) => outcome === signIn);
  return found && <p role="status">{found[1]}</p>;
}
