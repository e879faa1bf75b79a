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
  const isAsync = names.some((name) => name.toLowerCase() === 'respond-async');
  // Nothing can be sent in no time: a client that waits for the outcome, but for none at all, gets the default (§2).
  const isUsable = seconds !== undefined && (isAsync || Number(seconds) > 0);
  return { isAsync, waitMs: isUsable ? Number(seconds) * 1_000 : undefined };
}
