// Every static check of the repository, in one run. It expects that the dependencies are installed.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const USAGE = `Usage: npm run check -- [--fix]

  --fix   format the files, and repair what the linter can repair
`;

const root = fileURLToPath(new URL('../..', import.meta.url));
const isFixing = readArguments().fix;
process.exitCode = await runSteps(listSteps());

/**
 * One program checks the types of all packages from their sources; the console is apart, because a browser has other types.
 * The linter reads what is generated as well.
 */
function listSteps() {
  const lint = ['oxlint', '--type-aware', '--deny-warnings', '--report-unused-disable-directives'];
  return [
    {
      name: 'format',
      command: ['oxfmt', isFixing ? '--write' : '--list-different'],
    },
    { name: 'generated', command: ['turbo', 'run', 'generate', '--output-logs=errors-only', '--ui=stream'] },
    { name: 'types', command: ['tsc', '--project', 'packages/config/tsconfig.check.json'] },
    { name: 'console types', command: ['tsc', '--project', 'packages/console/tsconfig.app.json'] },
    { name: 'console tests', command: ['tsc', '--project', 'packages/console/tsconfig.test.json'] },
    { name: 'lint', command: [...lint, ...(isFixing ? ['--fix'] : []), 'packages', 'services'] },
    { name: 'unused code', command: ['knip', '--no-progress', '--no-config-hints', ...config('knip.json')] },
    {
      name: 'dependencies',
      command: ['depcruise', ...config('dependency-cruiser.mjs'), 'packages', 'services'],
    },
  ];
}

function config(file) {
  return ['--config', join('packages', 'config', file)];
}

async function runSteps(steps) {
  const failed = [];
  for (const { name, command } of steps) {
    if (process.stdout.isTTY) process.stdout.write(`… ${name}\r`);
    const start = performance.now();
    const { code, output } = await run(command);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    process.stdout.write(`${code === 0 ? '✔' : '✘'} ${name.padEnd(14)} ${seconds.padStart(5)} s\n`);
    if (code === 0) continue;
    failed.push(name);
    process.stdout.write(`${output.trim()}\n\n`);
  }
  if (failed.length > 0) process.stderr.write(`check failed: ${failed.join(', ')}\n`);
  return failed.length > 0 ? 1 : 0;
}

function run([tool, ...args]) {
  return new Promise((resolve) => {
    const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };
    const child = spawn(join(root, 'node_modules', '.bin', tool), args, { cwd: root, env });
    let output = '';
    const collect = (chunk) => (output += chunk);
    child.stdout.setEncoding('utf8').on('data', collect);
    child.stderr.setEncoding('utf8').on('data', collect);
    child.once('error', (error) => resolve({ code: 1, output: `${tool} can't be run: ${error.message}` }));
    child.once('close', (code) => resolve({ code, output }));
  });
}

function readArguments() {
  const fix = { type: 'boolean', default: false };
  const help = { type: 'boolean', short: 'h', default: false };
  try {
    const { values } = parseArgs({ options: { fix, help } });
    if (!values.help) return values;
    process.stdout.write(USAGE);
    return process.exit(0);
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return process.exit(2);
  }
}
