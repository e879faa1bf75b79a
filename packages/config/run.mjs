// Behind every npm script at the root: sets the clone up, then runs the tool.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, runMain, setUp, SetupError, toolEnv, waitForExit } from './setup.mjs';

const BENCH = 'packages/bench/dist/main.js';

/** What Node needs, and the programs to run once the clone is set up; paths are relative to the root. */
const TOOLS = {
  test: [
    '--import=tsx',
    '--conditions=workspace',
    'node_modules/jest/bin/jest.js',
    '-c',
    'packages/config/jest.config.mjs',
  ],
  check: ['packages/config/check.mjs'],
  bench: [BENCH],
  ledger: ['--import=tsx', '--conditions=workspace', 'packages/e2e/src/ledger/main.ts'],
  build: undefined,
  screenshots: ['packages/console/screenshots.mjs'],
  release: ['packages/release/release.mjs'],
  format: ['node_modules/oxfmt/bin/oxfmt'],
};

await runMain(async () => {
  const [task, ...args] = process.argv.slice(2);
  if (!Object.hasOwn(TOOLS, task ?? '')) {
    throw new SetupError(`Usage: node packages/config/run.mjs <${Object.keys(TOOLS).join('|')}> [arguments]`);
  }
  // The checks build what they read, and formatting reads sources only.
  await setUp({ build: task !== 'format' && task !== 'check' });
  const tool = TOOLS[task];
  if (!tool) return;
  if (task === 'bench' && !existsSync(join(ROOT, BENCH)))
    throw new SetupError(`${BENCH} is missing: the benchmark can't be run.`);
  const isTestingAll = task === 'test' && args.some((arg) => arg === '--all' || arg.includes('.full'));
  const child = spawn(process.execPath, [...tool, ...args.filter((arg) => arg !== '--all')], {
    cwd: ROOT,
    env: { ...toolEnv(), ...(isTestingAll && { TEST_ALL: '1' }) },
    stdio: 'inherit',
  });
  process.exitCode = await waitForExit(child, { exitOnSignal: false });
});
