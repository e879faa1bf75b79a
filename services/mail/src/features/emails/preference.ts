/** What a client prefers (RFC 7240); the rest of its preferences is left alone, as §2 has it. */
export interface Preference {
  /** §4.1: it takes 202 for an answer. */
  readonly isAsync: boolean;
  /** §4.3: how long it waits for the outcome. */
  readonly waitMs: number | undefined;
}

const WAIT = /^wait\s*=\s*"?(\d{1,9})"?$/i;

export function readPreference(header: string | readonly string[] | undefined): Preference {
  const names = [header ?? []].flat().join().split(',').map((item) => (item.split(';', 1)[0] ?? '').trim()); // prettier-ignore
  const seconds = names.map((name) => WAIT.exec(name)?.[1]).find((found) => found !== undefined);
  return {
    isAsync: names.some((name) => name.toLowerCase() === 'respond-async'),
    waitMs: seconds === undefined ? undefined : Number(seconds) * 1_000,
  };
}
