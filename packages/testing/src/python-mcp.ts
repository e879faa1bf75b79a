import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram, readCacheDir } from '@platform/embedded';

const VERSION = '2.3.0';
const INSTALL_TIMEOUT_MS = 120_000;
const run = promisify(execFile);

/**
 * Returns a Python that has the official MCP SDK. It is installed the first time, in the cache directory; several
 * processes at once are safe, because a complete folder is renamed into place.
 *
 * @throws Error when there is no Python, or the package can't be had.
 */
export async function ensurePythonMcp(): Promise<string> {
  const folder = join(readCacheDir(), `python-mcp-${VERSION}`);
  const python = join(folder, 'bin/python');
  if (existsSync(python)) return python;
  if (findProgram('python3') === undefined)
    throw new Error('there is no python3 on the PATH: install Python 3.10');
  await mkdir(readCacheDir(), { recursive: true });
  const work = await mkdtemp(`${folder}.installing-`);
  try {
    await run('python3', ['-m', 'venv', work]);
    const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `mcp==${VERSION}`];
    await run(join(work, 'bin/python'), args, { timeout: INSTALL_TIMEOUT_MS });
    await rename(work, folder).catch((error: unknown) => {
      if (!existsSync(python)) throw error;
    });
    return python;
  } catch (error) {
    const [line] = (error as Error).message.split('\n').filter((text) => /error/i.test(text));
    throw new Error(`mcp ${VERSION} can't be installed for Python: ${line ?? 'unknown fault'}`, { cause: error });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
} // prettier-ignore
