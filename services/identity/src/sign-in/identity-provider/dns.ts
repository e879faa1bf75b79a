import { Resolver } from 'node:dns/promises';

/**
 * Reads the TXT records of a name. A record consists of several strings when it is long.
 *
 * @throws an error with a code of `node:dns`.
 */
export type ResolveTxt = (name: string) => Promise<readonly (readonly string[])[]>;

const TIMEOUT_MS = 3_000;
const TRIES = 2;
/** The name servers answered: there is no such record. */
const NOT_FOUND: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/** @param servers - replace the system's name servers. Tests set them. */
export const createResolveTxt =
  (servers?: readonly string[]): ResolveTxt =>
  (name) => {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    return resolver.resolveTxt(name);
  };

/** Returns whether the name has this record. @throws an error when the name servers don't answer. */
export async function hasTxtRecord(
  resolveTxt: ResolveTxt,
  { name, value }: { readonly name: string; readonly value: string },
): Promise<boolean> {
  try {
    return (await resolveTxt(name)).some((parts) => parts.join('') === value);
  } catch (error) {
    if (NOT_FOUND.has((error as { readonly code?: unknown }).code)) return false;
    throw error;
  }
}
