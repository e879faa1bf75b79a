import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { ACCESS_FILE, type AccessFile, createAccessRules } from './access.js';
import { createOfficeReader, getMaxBytes, isOfficeFile } from './office-files.js';
import {
  byPath,
  type Entry,
  type Listing,
  type Source,
  type SourceDocument,
  toFormat,
  type UnreadDocument,
} from './source.js';

/** Returns whether a folder belongs to tools rather than users. */
const isIgnored = (name: string): boolean => name.startsWith('.') || name === 'node_modules';
const isDocument = (name: string): boolean =>
  /\.(?:md|markdown|html?|txt)$/i.test(name) || isOfficeFile(name);

/** Changes with every change of the file, even if its size and its time of modification stay the same. */
const toFingerprint = ({ ino, size, mtimeMs, ctimeMs }: Awaited<ReturnType<typeof lstat>>): string =>
  [ino, size, mtimeMs, ctimeMs].join(' ');

/**
 * A folder of Markdown, HTML, text, PDF and Office files and e-mails. Symbolic links are not followed, neither to files nor to folders, so that
 * nothing outside the folder is ever read.
 */
export function createFolder(folder: string): Source {
  return {
    description: `The folder ${folder}`,
    async list() {
      return list(await realpath(folder));
    },
    async read(entries) {
      const root = await realpath(folder);
      const reader = createOfficeReader();
      const documents: (SourceDocument | UnreadDocument)[] = [];
      try {
        for (const { path } of entries) {
          const file = await readFile(join(root, path));
          if (!file) continue;
          const { fingerprint, bytes } = file;
          if (isOfficeFile(path)) documents.push({ path, fingerprint, ...(await reader.read(path, bytes)) });
          else documents.push({ path, fingerprint, format: toFormat(path), content: bytes.toString('utf8') });
        }
      } finally {
        await reader.close();
      }
      return documents;
    },
  };
}

const isGone = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** @param root - a real path. @throws Error when the folder itself can't be read. */
async function list(root: string): Promise<Listing> {
  const entries: Entry[] = [];
  const tooLarge: string[] = [];
  const unreadable: string[] = [];
  const accessFiles: AccessFile[] = [];
  let [oldestMs, newestMs] = [Infinity, -Infinity];
  const folders = [root];
  const toPath = (absolutePath: string) => relative(root, absolutePath).split(sep).join('/');
  /** Only what is known to be gone counts as deleted. */
  const onError = (absolutePath: string) => (error: unknown) => {
    if (absolutePath === root) throw error;
    if (!isGone(error)) unreadable.push(toPath(absolutePath));
    return undefined;
  };
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const found = await readdir(folder, { withFileTypes: true }).catch(onError(folder));
    for (const entry of found ?? []) {
      const absolutePath = join(folder, entry.name);
      if (entry.isDirectory() && !isIgnored(entry.name)) folders.push(absolutePath);
      const path = toPath(absolutePath);
      if (entry.name === ACCESS_FILE)
        accessFiles.push({ path, text: (await readFile(absolutePath))?.bytes.toString('utf8') });
      if (!entry.isFile() || !isDocument(entry.name)) continue;
      const stats = await lstat(absolutePath).catch(onError(absolutePath));
      if (!stats) continue;
      if (stats.size > getMaxBytes(path)) tooLarge.push(path);
      else {
        entries.push({ path, fingerprint: toFingerprint(stats), bytes: stats.size });
        oldestMs = Math.min(oldestMs, stats.mtimeMs);
        newestMs = Math.max(newestMs, stats.mtimeMs);
      }
    }
  }
  entries.sort(byPath);
  const hash = createHash('sha256');
  for (const { path, fingerprint } of entries) hash.update(`${path}\0${fingerprint}\0`);
  for (const { path, text = '' } of accessFiles.toSorted(byPath)) hash.update(`${path}\0${text}\0`);
  return {
    version: hash.digest('hex'),
    entries,
    tooLarge,
    unreadable,
    access: createAccessRules(accessFiles),
    ...(entries.length > 0 && { oldestAt: new Date(oldestMs), newestAt: new Date(newestMs) }),
  };
}

/**
 * Returns whether the handle is a regular file, and the file that the path names without a symbolic link. It is
 * asked once the file is open: a folder can become a link between a check of its path and the opening.
 */
async function isFileAt(handle: FileHandle, path: string): Promise<boolean> {
  const [opened, named] = await Promise.all([handle.stat(), stat(path)]);
  const isSame = opened.ino === named.ino && opened.dev === named.dev;
  return opened.isFile() && isSame && (await realpath(path)) === path;
}

/**
 * Reads a file.
 *
 * @returns undefined for a file that is gone, that can't be read, that is too large or no regular file any more, or that has
 *   become a symbolic link since it was listed, or lies below one.
 */
export async function readFile(
  absolutePath: string,
): Promise<{ readonly fingerprint: string; readonly bytes: Buffer } | undefined> {
  // Opening a named pipe would wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(absolutePath, flags).catch(() => undefined);
  if (!handle) return undefined;
  try {
    if (!(await isFileAt(handle, absolutePath))) return undefined;
    const stats = await handle.stat();
    const { size } = stats;
    if (size > getMaxBytes(absolutePath)) return undefined;
    // Text that is appended in the meantime is read in the next run.
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(size), 0, size, 0);
    return { fingerprint: toFingerprint(stats), bytes: buffer.subarray(0, bytesRead) };
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}
