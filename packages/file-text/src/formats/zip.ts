import { strFromU8, unzipSync } from 'fflate';
import { UnreadableFile } from '../file-text.js';

/** What the entries that are read may expand to together. Real documents expand twentyfold at most. */
const MAX_EXPANDED_BYTES = 200 * 1_048_576;

export type Entries = ReadonlyMap<string, string>;

/** Returns the names of all entries, without expanding any. @throws Error for what is not a ZIP archive. */
export function listEntries(bytes: Uint8Array): ReadonlySet<string> {
  const names = new Set<string>();
  unzipSync(bytes, {
    filter({ name }) {
      names.add(name);
      return false;
    },
  });
  return names;
}

/**
 * Expands the entries that are wanted, as text. An entry never expands beyond the size that the archive says it has, so the
 * sum of these sizes bounds the memory before anything is expanded.
 */
export function readEntries(bytes: Uint8Array, isWanted: (name: string) => boolean): Entries {
  let expanded = 0;
  const found = unzipSync(bytes, {
    filter({ name, originalSize }) {
      if (!isWanted(name)) return false;
      expanded += originalSize;
      if (expanded > MAX_EXPANDED_BYTES)
        throw new UnreadableFile('expands_too_far', `It expands to more than ${MAX_EXPANDED_BYTES} bytes`);
      return true;
    },
  });
  return new Map(Object.entries(found).map(([name, content]) => [name, strFromU8(content)]));
}
