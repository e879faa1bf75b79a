import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Set by `npm test -- --all`. */
const isTestingAll = process.env.TEST_ALL === '1';

const hasDocker = [['compose', 'version'], ['info']].every(
  (args) => spawnSync('docker', args, { stdio: 'ignore', timeout: 10_000 }).status === 0,
);
const hasPrograms = (...names) =>
  names.every((name) => spawnSync('sh', ['-c', 'command -v "$0"', name], { stdio: 'ignore' }).status === 0);

/**
 * The files that this run leaves out. No script can bring an engine, and nobody has to install the agents of others:
 * what needs one is left out, rather than skipped, which REQUIRE_ALL forbids.
 */
const leftOut = [
  {
    isLeftOut: !isTestingAll,
    title: 'the full run',
    path: '.*\\.full\\.test\\.ts$',
    reason: 'killed processes, Kafka, Redis, browsers, engines and programs of others: npm run test:all',
  },
  {
    isLeftOut: !hasDocker,
    path: 'packages/e2e/test/compose/',
    reason: 'no Docker engine with Compose answers: start one',
  },
  {
    isLeftOut: !hasPrograms('claude', 'script'),
    path: 'services/identity/test/mcp/coding-agents/claude-code.',
    reason: 'there is no claude on the PATH: npm install -g @anthropic-ai/claude-code',
  },
  {
    isLeftOut: !hasPrograms('codex'),
    path: 'services/identity/test/mcp/coding-agents/codex.',
    reason: 'there is no codex on the PATH: npm install -g @openai/codex',
  },
].filter(({ isLeftOut }) => isLeftOut);

/**
 * One run for all packages. The runner imports test files as they are into worker threads: as real ES modules, without
 * a context for each, so that a worker loads Fastify, Prisma and the SDKs once for all its files. Node is started
 * with `tsx`, which compiles TypeScript, and with our condition `workspace`, so that packages are tested from their
 * sources (see run.mjs). There is no `forceExit`: a handle that stays open is a fault of the test.
 *
 * @type {import('jest').Config}
 */
export default {
  rootDir: fileURLToPath(new URL('../..', import.meta.url)),
  runner: 'jest-light-runner',
  testMatch: ['<rootDir>/{packages,services}/*/{src,test}/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...leftOut.map(({ path }) => `<rootDir>/${path}`)],
  modulePathIgnorePatterns: ['<rootDir>/(?:packages|services)/[^/]+/dist/'],
  transform: {},
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json'],
  globalSetup: '<rootDir>/packages/testing/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/packages/testing/jest/global-teardown.mjs',
  setupFiles: ['<rootDir>/packages/testing/jest/typescript.mjs'],
  setupFilesAfterEnv: ['<rootDir>/packages/testing/jest/time-limits.mjs'],
  reporters: [
    'default',
    ...(isTestingAll ? ['<rootDir>/packages/testing/jest/slowest-reporter.mjs'] : []),
    ['<rootDir>/packages/testing/jest/left-out-reporter.mjs', { others: leftOut }],
  ],
  // A worker waits for processes and databases about half of its time.
  maxWorkers: Math.max(4, Math.floor(availableParallelism() / 2)),
};
