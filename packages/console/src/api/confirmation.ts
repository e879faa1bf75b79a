/*
 * The platform refuses dangerous acts in a browser until the person confirms who they are (AUTH-41). A request that meets
 * this waits here while the shell asks, and is then sent again: no screen has to know about it.
 */

interface Asked {
  readonly answer: Promise<boolean>;
  settle(isConfirmed: boolean): void;
}

const listeners = new Set<() => void>();
let asked: Asked | undefined;

function setAsked(next: Asked | undefined): void {
  asked = next;
  for (const notify of listeners) notify();
}

/** Asks the person, once for all requests that wait. @returns false when they would rather not. */
export function askForConfirmation(): Promise<boolean> {
  if (asked) return asked.answer;
  let resolve: (isConfirmed: boolean) => void = () => undefined;
  const answer = new Promise<boolean>((settle) => (resolve = settle));
  setAsked({
    answer,
    settle(isConfirmed) {
      setAsked(undefined);
      resolve(isConfirmed);
    },
  });
  return answer;
}

/** For `useSyncExternalStore`: what is being asked, if anything. */
export const confirmation = {
  subscribe(notify: () => void): () => void {
    listeners.add(notify);
    return () => listeners.delete(notify);
  },
  get: (): Asked | undefined => asked,
};
