import { DAY_MS } from '@platform/service-kit';

const USED_WITHIN_DAYS = 30;

/** The day (since 1970-01-01, UTC) on which each scope was last used. */
export type ScopeDays = Readonly<Record<string, number>>;

export const toDay = (at: number): number => Math.floor(at / DAY_MS);

/**
 * Returns the scopes that were used in the last 30 days.
 *
 * @param scopeDays - null for a token that was never used.
 */
export const findUsedScopes = (
  scopes: readonly string[],
  scopeDays: ScopeDays | null,
  now: number,
): string[] =>
  scopes.filter((scope) => {
    const day = scopeDays?.[scope];
    return day !== undefined && toDay(now) - day <= USED_WITHIN_DAYS;
  });
