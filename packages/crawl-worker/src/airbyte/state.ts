import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';

/*
 * The state of a source in a checkpoint. It is text, since a number of a source may be larger than JavaScript can hold.
 * A small state is in the checkpoint as it is, a larger one compressed. One that is too large even so is a file in the
 * worker's folder, and the checkpoint has its digest.
 */

/** A checkpoint of 64 KiB has room for what surrounds it. */
const MAX_STATE_CHARACTERS = 60_000;

export type StoredState =
  | { readonly text: string }
  | { readonly deflated: string }
  | { readonly sha256: string };

export function createStateStore(folder: string) {
  const toPath = (sha256: string) => join(folder, `${sha256}.json`);

  return {
    async save(text: string): Promise<StoredState> {
      if (JSON.stringify(text).length <= MAX_STATE_CHARACTERS) return { text };
      const deflated = deflateSync(text).toString('base64');
      if (deflated.length <= MAX_STATE_CHARACTERS) return { deflated };
      const sha256 = createHash('sha256').update(text).digest('hex');
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const partial = `${toPath(sha256)}.partial`;
      const file = await open(partial, 'w', 0o600);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(partial, toPath(sha256));
      return { sha256 };
    },

    /** @returns undefined when the state is in the folder of another worker. */
    async load(state: StoredState): Promise<string | undefined> {
      if ('text' in state) return state.text;
      if ('deflated' in state) return inflateSync(Buffer.from(state.deflated, 'base64')).toString('utf8');
      const text = await readFile(toPath(state.sha256), 'utf8').catch(() => undefined);
      const isWhole = text !== undefined && createHash('sha256').update(text).digest('hex') === state.sha256;
      return isWhole ? text : undefined;
    },

    /** Deletes the files that no checkpoint names any more, at the start of a slice, which has the only one that counts. */
    async deleteOthers(state: StoredState | undefined): Promise<void> {
      const kept = state && 'sha256' in state ? `${state.sha256}.json` : '';
      const names = await readdir(folder).catch(() => []);
      for (const name of names) if (name !== kept) await rm(join(folder, name), { force: true });
    },
  };
}

export type StateStore = ReturnType<typeof createStateStore>;
