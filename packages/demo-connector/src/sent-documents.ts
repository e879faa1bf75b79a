import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/*
 * What a connector has sent, as a file of lines: `{list}` names it, and `{path, fingerprint}` is a document that was sent, or
 * without a fingerprint one that is gone. The list is named in the checkpoint, so a worker knows whether its file belongs to
 * it. A line that was lost in a crash only means that a document is sent again.
 */

export interface SentDocuments {
  /** Names the list in the checkpoint. */
  readonly list: string;
  readonly fingerprints: ReadonlyMap<string, string>;
  /** Records documents that the sink has stored, or that are gone. */
  add(documents: readonly { readonly path: string; readonly fingerprint?: string }[]): Promise<void>;
}

interface Line {
  readonly list?: string;
  readonly path?: string;
  readonly fingerprint?: string;
}

function parseLine(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return {};
  }
}

/**
 * Opens the list that the checkpoint names, or a new one.
 *
 * @returns a list with another name if that one is not here.
 */
export async function openSentDocuments(
  folder: string,
  connector: string,
  list: string | undefined,
): Promise<SentDocuments> {
  const file = join(folder, `${connector}.sent.ndjson`);
  const fingerprints = new Map<string, string>();
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').map(parseLine);
  const isKnown = list !== undefined && lines[0]?.list === list;
  const name = isKnown ? list : randomUUID();
  if (isKnown)
    for (const { path, fingerprint } of lines) {
      if (path === undefined) continue;
      if (fingerprint === undefined) fingerprints.delete(path);
      else fingerprints.set(path, fingerprint);
    }
  const toLines = (entries: readonly Line[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  await mkdir(folder, { recursive: true });
  // Rewritten, so that it does not grow with every change.
  const whole = [{ list: name }, ...[...fingerprints].map(([path, fingerprint]) => ({ path, fingerprint }))];
  await writeFile(`${file}.new`, toLines(whole));
  await rename(`${file}.new`, file);
  return {
    list: name,
    fingerprints,
    async add(documents) {
      if (documents.length === 0) return;
      const handle = await open(file, 'a');
      try {
        await handle.writeFile(toLines(documents));
      } finally {
        await handle.close();
      }
      for (const { path, fingerprint } of documents) {
        if (fingerprint === undefined) fingerprints.delete(path);
        else fingerprints.set(path, fingerprint);
      }
    },
  };
}
