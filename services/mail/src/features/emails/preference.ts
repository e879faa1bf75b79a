/** The preferences in a `Prefer` header (RFC 7240). Other preferences are ignored, as §2 requires. */
export interface Preference {
  /** True when the client accepts a 202 response (§4.1). */
  readonly isAsync: boolean;
  /** The time that the client is willing to wait for the outcome (§4.3). */
  readonly waitMs: number | undefined;
}

const WAIT = /^wait\s*=\s*"?(\d{1,9})"?$/i;

export function readPreference(header: string | readonly string[] | undefined): Preference {
  // prettier-ignore
  const names = [header ?? []].flat().join().split(',').map((item) => (item.split(';', 1)[0] ?? '').trim());
  const seconds = names.map((name) => WAIT.exec(name)?.[1]).find((found) => found !== undefined);
  return {
    isAsync: names.some((name) => name.toLowerCase() === 'respond-async'),
    waitMs: seconds === undefined ? undefined : Number(seconds) * 1_000,
  };
}
