import { text } from '#text/shared';
import { useSyncExternalStore } from 'react';
import { queryClient } from '../api/queries.ts';
import { sessionEnd, toSignIn } from '../api/session.ts';
import { Button } from '../ui/button.tsx';

/**
 * Says that the session is over, and leaves the screen as it is: what is typed in a form stays there, and is sent once
 * the person has signed in again in another tab (UI-4).
 */
export function SessionEnded() {
  const hasEnded = useSyncExternalStore(sessionEnd.subscribe, sessionEnd.hasEnded);
  if (!hasEnded) return null;
  return (
    <div className="banner" role="alert">
      <span>{text.session.ended}</span>
      <a href={toSignIn('/')} target="_blank" rel="noreferrer">
        {text.session.signIn}
      </a>
      <Button onPress={() => void queryClient.invalidateQueries()}>{text.session.goOn}</Button>
    </div>
  );
}
