import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { basename } from 'node:path/posix';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ACCESS_FILE, type AccessFile, createAccessRules } from './access.js';
import { createOfficeReader, getMaxBytes, isOfficeFile } from './office-files.js';
import {
  type Binary,
  byPath,
  type Entry,
  MAX_DOCUMENT_BYTES,
  type Source,
  type SourceDocument,
  toFormat,
  type UnreadDocument,
} from './source.js';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 256 * MAX_DOCUMENT_BYTES;
const GIT_TIMEOUT_MS = 600_000;
const NEWLINE = 10;

/**
 * The text files, PDF and Office files and e-mails of a Git repository, as they are in the last commit of its default
 * branch. The repository is mirrored below `cacheDir`; the fingerprint of a file is its object id, so what has changed is
 * known without reading it.
 *
 * @param environment - of this process, for Git.
 */
export function createRepository({
  repository,
  cacheDir,
  without,
  environment,
}: {
  /** A path or a URL, which the operator names. */
  readonly repository: string;
  readonly cacheDir: string;
  /** Paths that begin with it are left out. */
  readonly without?: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
}): Source {
  const name = createHash('sha256').update(repository).digest('hex').slice(0, 16);
  const mirror = join(cacheDir, `${name}.git`);
  const env = {
    ...environment,
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
  };

  async function git(args: readonly string[], signal: AbortSignal, input = ''): Promise<Buffer> {
    try {
      const running = run('git', ['-C', mirror, ...args], {
        env,
        signal,
        timeout: GIT_TIMEOUT_MS,
        encoding: 'buffer',
        maxBuffer: MAX_OUTPUT_BYTES,
      });
      // Git may end without having read everything, and then says why.
      running.child.stdin?.on('error', () => undefined).end(input);
      return (await running).stdout;
    } catch (error) {
      signal.throwIfAborted();
      const { stderr, killed, message } = error as Error & { stderr?: Buffer; killed?: boolean };
      const reason = killed ? `did not end within ${GIT_TIMEOUT_MS / 1_000} s` : stderr?.toString().trim();
      throw new Error(`git ${args[0]}: ${reason || message}`, { cause: error });
    }
  }

  /** Creates the mirror if needed, so a partial mirror of an interrupted crawl does no harm. */
  async function fetchHead(signal: AbortSignal): Promise<string> {
    await mkdir(mirror, { recursive: true });
    await git(['init', '--bare', '--quiet'], signal);
    const options = ['--quiet', '--no-tags', '--depth=1', '--force'];
    await git(['fetch', ...options, '--', repository, '+HEAD:refs/crawl/head'], signal);
    return (await git(['rev-parse', 'refs/crawl/head'], signal)).toString().trim();
  }

  /** Reads blobs by their ids. @returns undefined for one that is missing. */
  async function readBlobs(ids: readonly string[], signal: AbortSignal): Promise<(Buffer | undefined)[]> {
    const output = await git(['cat-file', '--batch'], signal, ids.map((id) => `${id}\n`).join(''));
    let offset = 0;
    return ids.map(() => {
      const end = output.indexOf(NEWLINE, offset);
      const [, size] = /^\w+ blob (\d+)$/.exec(output.toString('latin1', offset, end)) ?? [];
      offset = end + 1;
      if (size === undefined) return undefined;
      const content = output.subarray(offset, offset + Number(size));
      offset += Number(size) + 1;
      return content;
    });
  }

  /** @param ids - by path; undefined for what is no regular file, or too large. */
  async function readAccessFiles(
    ids: ReadonlyMap<string, string | undefined>,
    signal: AbortSignal,
  ): Promise<AccessFile[]> {
    const known = [...ids.values()].filter((id) => id !== undefined);
    const texts = known.length === 0 ? [] : await readBlobs(known, signal);
    return [...ids].map(([path, id]) => ({
      path,
      text: id === undefined ? undefined : texts[known.indexOf(id)]?.toString('utf8'),
    }));
  }

  return {
    description: `The repository ${withoutCredentials(repository)}`,
    async list(signal) {
      const commit = await fetchHead(signal);
      const entries: Entry[] = [];
      const tooLarge: string[] = [];
      const accessFiles = new Map<string, string | undefined>();
      const listed = await git(['ls-tree', '-r', '-z', '--long', commit], signal);
      for (const line of listed.toString().split('\0')) {
        const [, mode = '', id = '', size, path] = /^(\d+) \w+ (\w+) +(\d+|-)\t([^]+)$/.exec(line) ?? [];
        if (path === undefined || (without !== undefined && path.startsWith(without))) continue;
        // Links and submodules have other modes.
        const isFile = mode.startsWith('100');
        const isTooLarge = Number(size) > getMaxBytes(path);
        // It names documents that not everyone may know of, so it is no document itself.
        if (basename(path) === ACCESS_FILE) accessFiles.set(path, isFile && !isTooLarge ? id : undefined);
        else if (isFile && isTooLarge) tooLarge.push(path);
        else if (isFile) entries.push({ path, fingerprint: id, bytes: Number(size) });
      }
      const access = createAccessRules(await readAccessFiles(accessFiles, signal));
      // Another part of the same commit is another version.
      const version = without === undefined ? commit : `${commit} without ${without}`;
      const committedAt = (await git(['log', '-1', '--format=%cI', commit], signal)).toString().trim();
      // The mirror has the last commit alone, which says nothing of the age of the oldest file.
      const newestAt = new Date(committedAt);
      return { version, entries: entries.toSorted(byPath), tooLarge, unreadable: [], access, newestAt };
    },

    async read(entries, signal) {
      const blobs = await readBlobs(
        entries.map(({ fingerprint }) => fingerprint),
        signal,
      );
      const documents: (SourceDocument | Binary | UnreadDocument)[] = [];
      const reader = createOfficeReader();
      try {
        for (const [index, { path, fingerprint }] of entries.entries()) {
          const content = blobs[index];
          if (!content) continue;
          if (isOfficeFile(path))
            documents.push({ path, fingerprint, ...(await reader.read(path, content)) });
          else if (content.includes(0)) documents.push({ path, content: undefined });
          else
            documents.push({ path, fingerprint, format: toFormat(path), content: content.toString('utf8') });
        }
      } finally {
        await reader.close();
      }
      return documents;
    },
  };
}

/** Members read where the documents come from; the user and password of a URL are not for them. */
function withoutCredentials(repository: string): string {
  const url = URL.canParse(repository) ? new URL(repository) : undefined;
  if (!url || (url.username === '' && url.password === '')) return repository;
  url.username = '';
  url.password = '';
  return url.href;
}
