import { constants } from 'node:fs';
import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** A Markdown file of the folder. */
export interface FoundFile {
  /** Relative to the folder, with `/` between its parts. */
  readonly path: string;
  readonly absolutePath: string;
}

export interface FolderListing {
  readonly files: readonly FoundFile[];
  /** Whether there are more files than are indexed. */
  readonly isCut: boolean;
}

const MAX_FILES = 5_000;
export const MAX_FILE_BYTES = 1_048_576;
/** Returns whether a folder belongs to tools rather than users. */
const isIgnored = (name: string): boolean => name.startsWith('.') || name === 'node_modules';

/**
 * Lists the Markdown files below a folder. Symbolic links are not followed, neither to files nor to folders, so that
 * nothing outside the folder is ever read.
 *
 * @param root - a real path.
 * @throws Error when the folder itself can't be read.
 */
export async function listMarkdown(root: string): Promise<FolderListing> {
  const files: FoundFile[] = [];
  const folders = [root];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      if (folder === root) throw error;
      return [];
    });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const absolutePath = join(folder, entry.name);
      if (entry.isDirectory() && !isIgnored(entry.name)) folders.push(absolutePath);
      if (!entry.isFile() || !/\.(?:md|markdown)$/i.test(entry.name)) continue;
      if (files.length === MAX_FILES) return { files, isCut: true };
      files.push({ path: relative(root, absolutePath).split(sep).join('/'), absolutePath });
    }
  }
  return { files, isCut: false };
}

/** A file as it was when it was opened. */
export interface ReadFile {
  /** Changes with every change of the file. */
  readonly fingerprint: string;
  /** @returns undefined for a file that is too large. */
  readText(): Promise<string | undefined>;
}

/**
 * Returns whether the handle is that of a regular file, and of the one that the path names without a symbolic link. It is
 * asked once the file is open: a folder can become a link between a check of its path and the opening.
 */
async function isFileAt(handle: FileHandle, path: string): Promise<boolean> {
  const [opened, named] = await Promise.all([handle.stat(), stat(path)]);
  const isSame = opened.ino === named.ino && opened.dev === named.dev;
  return opened.isFile() && isSame && (await realpath(path)) === path;
}

/**
 * Opens a file and hands it to `use`.
 *
 * @returns undefined for a file that is gone, that can't be read, that is no regular file any more, or that has become a
 *   symbolic link since it was listed, or lies below one.
 */
export async function withFile<T>(
  { absolutePath }: FoundFile,
  use: (file: ReadFile) => Promise<T>,
): Promise<T | undefined> {
  // Opening a named pipe would wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(absolutePath, flags).catch(() => undefined);
  if (!handle) return undefined;
  try {
    if (!(await isFileAt(handle, absolutePath).catch(() => false))) return undefined;
    const { ino, size, mtimeMs, ctimeMs } = await handle.stat();
    return await use({
      fingerprint: [ino, size, mtimeMs, ctimeMs].join(' '),
      readText: async () => {
        if (size > MAX_FILE_BYTES) return undefined;
        // Text that is appended in the meantime is read in the next pass.
        const { bytesRead, buffer } = await handle.read(Buffer.alloc(size), 0, size, 0);
        return buffer.toString('utf8', 0, bytesRead);
      },
    });
  } finally {
    await handle.close();
  }
}
