import { askForConfirmation } from './confirmation.ts';
import { Problem, readProblem } from './problem.ts';

/*
 * The only file that knows how requests are authenticated: by the session cookie, which scripts can't read. The token
 * of the second cookie proves that a request comes from a page of this origin (UI-3).
 */

const CSRF_COOKIE = /(?:^|; )(?:__Host-)?platform_csrf=([^;]*)/;
const readCsrfToken = (): string => CSRF_COOKIE.exec(document.cookie)?.[1] ?? '';

/** Returns whether there may be a session: the second cookie comes and goes with the first, which scripts can't read. */
export const mayBeSignedIn = (): boolean => readCsrfToken() !== '';

const listeners = new Set<() => void>();
let hasEnded = false;

function setEnded(value: boolean): void {
  if (hasEnded === value) return;
  hasEnded = value;
  for (const notify of listeners) notify();
}

/** For `useSyncExternalStore`: whether a request was refused because the session is over. */
export const sessionEnd = {
  subscribe(notify: () => void): () => void {
    listeners.add(notify);
    return () => listeners.delete(notify);
  },
  hasEnded: (): boolean => hasEnded,
};

/** The sign-in page, which returns to the given path of the console. */
export const toSignIn = (path: string): string => `/sign-in?${new URLSearchParams({ returnTo: path })}`;

const needsConfirmation = ({ status, code }: Problem): boolean =>
  status === 403 && code === 'CONFIRMATION_REQUIRED';

/** Only what is loaded is loaded by itself once there is a network. */
const toOffline = ({ method }: Request): Problem =>
  new Problem(0, 'OFFLINE', '', { isRead: method === 'GET' });

/** The option of a call that changes nothing whatever its method, such as a test or a preview. */
export const readOnly = { fetch: (request: Request): Promise<Response> => send(request, true) };

/**
 * Sends a request with the session. When the person has to confirm it, it is sent again once they have. Without a network
 * nothing is sent, now or later.
 *
 * @throws Problem - when there is no response, or its status isn't 2xx
 */
export async function send(request: Request, isRead = request.method === 'GET'): Promise<Response> {
  if (!navigator.onLine) throw toOffline(request);
  // Read each time: it changes with every sign-in.
  request.headers.set('x-csrf-token', readCsrfToken());
  const again = request.clone();
  const response = await fetch(request, { credentials: 'same-origin' }).catch((error: unknown) => {
    if (request.signal.aborted) throw error;
    throw navigator.onLine ? new Problem(0, 'UNREACHABLE', '', { isRead }) : toOffline(request);
  });
  setEnded(response.status === 401);
  if (response.ok) return response;
  const problem = await readProblem(response, isRead);
  if (needsConfirmation(problem) && (await askForConfirmation())) return send(again, isRead);
  throw problem;
}
