/** The time for which a sign-in or a confirmation allows dangerous acts. */
export const CONFIRMED_FOR_MS = 10 * 60_000;

/** Returns whether the member of a session has authenticated recently: when it was opened, or since. */
export function isRecent(
  session: { readonly createdAt: Date; readonly authenticatedAt: Date | null } | null,
  now: number,
): boolean {
  if (session === null) return false;
  const { createdAt, authenticatedAt } = session;
  return now - (authenticatedAt ?? createdAt).getTime() < CONFIRMED_FOR_MS;
}
