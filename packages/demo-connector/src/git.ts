import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { SourceDocument } from '@platform/demo-knowledge/documents';
import { type Binary, byPath, type Entry, MAX_DOCUMENT_BYTES, type Source, toFormat } from './source.js';

const run = promisify(execFile);
const MAX_LIST_BYTES = 256 * MAX_DOCUMENT_BYTES;
const NEWLINE = 10;

/**
 * The text files of a Git repository, as they are in the last commit of its default branch. The repository is mirrored
 * below `cacheDir`; the fingerprint of a file is its object id, so what has changed is known without reading it.
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

  async function git(...args: string[]): Promise<string> {
    try {
      const options = { env, encoding: 'utf8' as const, maxBuffer: MAX_LIST_BYTES };
      return (await run('git', ['-C', mirror, ...args], options)).stdout;
    } catch (error) {
      const { stderr = '', message } = error as Error & { stderr?: string };
      throw new Error(`git ${args[0]}: ${stderr.trim() || message}`, { cause: error });
    }
  }

  /** The mirror is made anew where that is needed, so a part of one that an interrupted crawl has left does no harm. */
  async function fetchHead(): Promise<string> {
    await mkdir(mirror, { recursive: true });
    await git('init', '--bare', '--quiet');
    await git(
      'fetch',
      '--quiet',
      '--no-tags',
      '--depth=1',
      '--force',
      '--',
      repository,
      '+HEAD:refs/crawl/head',
    );
    return (await git('rev-parse', 'refs/crawl/head')).trim();
  }

  return {
    async list() {
      const commit = await fetchHead();
      const entries: Entry[] = [];
      const tooLarge: string[] = [];
      for (const line of (await git('ls-tree', '-r', '-z', '--long', commit)).split('\0')) {
        // Links and submodules have other modes.
        const [, id, size, path] = /^100\d{3} blob (\w+) +(\d+)\t([^]+)$/.exec(line) ?? [];
        if (id === undefined || path === undefined) continue;
        if (without !== undefined && path.startsWith(without)) continue;
        if (Number(size) > MAX_DOCUMENT_BYTES) tooLarge.push(path);
        else entries.push({ path, fingerprint: id, bytes: Number(size) });
      }
      return { version: commit, entries: entries.toSorted(byPath), tooLarge };
    },

    async read(entries) {
      const child = spawn('git', ['-C', mirror, 'cat-file', '--batch'], {
        env,
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      child.stdin.end(entries.map(({ fingerprint }) => `${fingerprint}\n`).join(''));
      const output = await buffer(child.stdout);
      const documents: (SourceDocument | Binary)[] = [];
      let offset = 0;
      for (const { path, fingerprint } of entries) {
        const end = output.indexOf(NEWLINE, offset);
        const [, size] = /^\w+ blob (\d+)$/.exec(output.toString('latin1', offset, end)) ?? [];
        offset = end + 1;
        if (size === undefined) continue;
        const content = output.subarray(offset, offset + Number(size));
        offset += Number(size) + 1;
        const text = content.includes(0) ? undefined : content.toString('utf8');
        documents.push(
          text === undefined
            ? { path, content: text }
            : { path, fingerprint, format: toFormat(path), content: text },
        );
      }
      return documents;
    },
  };
}
