import { execFileSync } from 'node:child_process';
import fs, { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFile } from '../src/folder.js';

let parent: string;
let absolutePath: string;

beforeEach(async () => {
  parent = await realpath(await mkdtemp(join(tmpdir(), 'platform-folder-')));
  for (const folder of ['pages', 'outside']) {
    await mkdir(join(parent, folder));
    await writeFile(join(parent, folder, 'a.md'), folder);
  }
  absolutePath = join(parent, 'pages/a.md');
});
afterEach(async () => {
  jest.restoreAllMocks();
  syncBuiltinESMExports();
  await rm(parent, { recursive: true });
});

const read = async () => (await readFile(absolutePath))?.bytes.toString();

async function swapForLink(): Promise<void> {
  await rename(join(parent, 'pages'), join(parent, 'moved'));
  await symlink(join(parent, 'outside'), join(parent, 'pages'));
}
async function swapBack(): Promise<void> {
  await rm(join(parent, 'pages'));
  await rename(join(parent, 'moved'), join(parent, 'pages'));
}

/** Runs these right before and right after the file is opened. */
function aroundOpening(before: () => Promise<void>, after?: () => Promise<void>): void {
  const { open } = fs;
  jest.spyOn(fs, 'open').mockImplementationOnce(async (...args) => {
    await before();
    const handle = await open(...args);
    await after?.();
    return handle;
  });
  // So that modules that import `open` by its name get it too.
  syncBuiltinESMExports();
}

test('CRAWL-46: reads a file, but not when its folder becomes a symbolic link while it is opened', async () => {
  expect(await read()).toBe('pages');
  aroundOpening(swapForLink);
  expect(await read()).toBeUndefined();
});

test('CRAWL-46: reads no file of another folder, even if the link is removed once the file is open', async () => {
  aroundOpening(swapForLink, swapBack);
  expect(await read()).toBeUndefined();
  expect(await read()).toBe('pages');
});

test('does not wait for a named pipe', async () => {
  await rm(absolutePath);
  execFileSync('mkfifo', [absolutePath]);
  expect(await read()).toBeUndefined();
});
