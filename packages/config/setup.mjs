// Makes a clone ready to run: checks Node, installs, builds. What is up to date costs next to nothing.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOutputs, digestSources } from './build-stamp.mjs';
import { showStep } from './progress.mjs';

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

const MODULES = join(ROOT, 'node_modules');
const STAMP = join(MODULES, '.platform-installed');
const BUILD_STAMP = join(MODULES, '.platform-built');
const PNPM_DIR = join(MODULES, '.platform-pnpm');
const TAIL_LINES = 30;
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** A fault to show as it is, without a stack. */
export class SetupError extends Error {}

/** Runs a main function; a known fault becomes plain lines and exit code 1. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`\n${error instanceof SetupError ? error.message : error.stack}\n`);
    process.exitCode = 1;
  }
}

/** @param {{build?: boolean}} [options] */
export async function setUp({ build = true } = {}) {
  checkNode();
  await install();
  if (build) await buildWhatChanged();
}

/** The sources are digested before the build, so a file that changes during it counts as changed at the next build. */
async function buildWhatChanged() {
  const sources = digestSources(ROOT);
  const built = existsSync(BUILD_STAMP) ? readFileSync(BUILD_STAMP, 'utf8') : '';
  if (built === `${sources} ${digestOutputs(ROOT)}`) return;
  await runTurbo(['build']);
  writeFileSync(BUILD_STAMP, `${sources} ${digestOutputs(ROOT)}`);
}

/** The environment of every tool: the workspace's programs and the pinned pnpm come first on the PATH. */
export function toolEnv() {
  const path = [join(MODULES, '.bin'), PNPM_DIR, process.env.PATH].join(':');
  return { ...process.env, PATH: path, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' };
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const isFit = manifest.engines.node.split('||').some((range) => {
    const [, operator, wantedMajor, wantedMinor] = /(\^|>=)(\d+)\.(\d+)/.exec(range);
    if (operator === '>=' && major > Number(wantedMajor)) return true;
    return major === Number(wantedMajor) && minor >= Number(wantedMinor);
  });
  if (isFit) return;
  throw new SetupError(
    `Node ${process.versions.node} can't run this; it takes ${manifest.engines.node}. ` +
      'Install a current LTS from https://nodejs.org and try again.',
  );
}

async function install() {
  const lockfile = readFileSync(join(ROOT, 'pnpm-lock.yaml'));
  const stamp = createHash('sha256')
    .update(lockfile)
    .update(`${process.platform}-${process.arch}`)
    .digest('hex');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return;
  mkdirSync(PNPM_DIR, { recursive: true });
  // No terminal to ask on: a node_modules of another pnpm or store is replaced.
  const options = '--frozen-lockfile --prod=false --reporter=append-only --config.confirmModulesPurge=false';
  const command = `command -v pnpm >'${PNPM_DIR}/location'; pnpm install ${options}`;
  const args = ['--yes', '--package', manifest.packageManager, '--call', command];
  await runStep('Installing dependencies', 'npx', args, process.env, INSTALL_ADVICE);
  writePnpmShim();
  writeFileSync(STAMP, stamp);
}

const INSTALL_ADVICE =
  'The packages could not be installed. Check that the npm registry can be reached (proxy: HTTPS_PROXY, ' +
  'mirror: npm_config_registry) and that the disk has room, then run the same command again.';

const BUILD_ADVICE = 'The build failed: the lines above name the file. `npm run check` checks everything.';

/** Builds what has changed; turbo answers from its cache in a tenth of a second when nothing has. */
export async function runTurbo(tasks) {
  const args = ['run', ...tasks, '--output-logs=errors-only', '--ui=stream'];
  await runStep('Building', join(MODULES, '.bin/turbo'), args, toolEnv(), BUILD_ADVICE);
}

// turbo runs each task through whatever `pnpm` is on the PATH. This one is npx's own copy, found at the install; npx
// is asked again (slower) when another user or an emptied cache has none there.
function writePnpmShim() {
  mkdirSync(PNPM_DIR, { recursive: true });
  const script = `#!/bin/sh
pnpm=$(cat '${PNPM_DIR}/location' 2>/dev/null)
[ -x "$pnpm" ] && exec "$pnpm" "$@"
exec npx --yes ${manifest.packageManager} "$@"
`;
  writeFileSync(join(PNPM_DIR, 'pnpm'), script, { mode: 0o755 });
}

/** Runs a program as one step; its last line is the progress, its last lines are the explanation of a failure. */
async function runStep(title, command, args, env, advice) {
  await showStep(title, async (note) => {
    const tail = [];
    const child = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const onOutput = (chunk) => {
      const lines = chunk
        .toString()
        .split('\n')
        .filter((line) => line.trim() !== '');
      tail.push(...lines);
      tail.splice(0, tail.length - TAIL_LINES);
      note(lines.at(-1) ?? '');
    };
    child.stdout.on('data', onOutput);
    child.stderr.on('data', onOutput);
    const code = await waitForExit(child);
    if (code !== 0) throw new SetupError(`${tail.join('\n')}\n\n${advice}`);
  });
}

/**
 * Waits for a child, passing on the signals this process gets; then they end the child first, and this process with
 * the code that a shell would report.
 *
 * @returns {Promise<number>} the exit code
 */
export function waitForExit(child, { exitOnSignal = true } = {}) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  let received;
  const pass = (signal) => {
    received = signal;
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, pass);
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code, signal) => {
      for (const name of signals) process.off(name, pass);
      const exitCode = code ?? 128 + constants.signals[signal];
      if (received && exitOnSignal) process.exit(128 + constants.signals[received]);
      done(exitCode);
    });
  });
}
