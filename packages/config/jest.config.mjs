import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Packages that exist as ES modules only; Jest's loader can't `require` those before Node 24.9. */
const esOnly = [
  '@modelcontextprotocol\\+',
  'content-disposition@',
  'cookie@',
  // Its TypeScript, for the condition that our own packages use too.
  'eventsource@',
  'eventsource-parser@',
  'jose@',
  'nodemailer@',
  'oauth4webapi@',
  'oidc-provider@',
  'openid-client@',
  'qr@',
  'typebox@',
  'uuid@',
].join('|');

const hasDocker = [['compose', 'version'], ['info']].every(
  (args) => spawnSync('docker', args, { stdio: 'ignore', timeout: 10_000 }).status === 0,
);
const hasPrograms = (...names) =>
  names.every((name) => spawnSync('sh', ['-c', 'command -v "$0"', name], { stdio: 'ignore' }).status === 0);

/**
 * No script can bring an engine, and nobody has to install the agents of others: what needs one is left out, rather than
 * skipped, which REQUIRE_ALL forbids.
 */
const leftOut = [
  {
    isLeftOut: !hasDocker,
    path: 'packages/e2e/test/compose/',
    reason: 'no Docker engine with Compose answers: start one',
  },
  {
    isLeftOut: !hasPrograms('claude', 'script'),
    path: 'services/identity/test/coding-agents/claude-code.test.ts',
    reason: 'there is no claude on the PATH: npm install -g @anthropic-ai/claude-code',
  },
  {
    isLeftOut: !hasPrograms('codex'),
    path: 'services/identity/test/coding-agents/codex.test.ts',
    reason: 'there is no codex on the PATH: npm install -g @openai/codex',
  },
].filter(({ isLeftOut }) => isLeftOut);

/**
 * One run for all packages. Sources are ES modules; Jest runs them as CommonJS, because its ES module mode
 * breaks Fastify's `inject`. There is no `forceExit`: a handle that stays open is a fault of the test.
 *
 * @type {import('jest').Config}
 */
export default {
  rootDir: fileURLToPath(new URL('../..', import.meta.url)),
  testMatch: ['<rootDir>/{packages,services}/*/{src,test}/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...leftOut.map(({ path }) => `<rootDir>/${path}`)],
  modulePathIgnorePatterns: ['<rootDir>/(?:packages|services)/[^/]+/dist/'],
  testEnvironment: 'node',
  // Workspace packages are tested from their sources, not from what was built of them last.
  testEnvironmentOptions: { customExportConditions: ['source', 'require', 'node', 'default'] },
  transform: {
    '\\.[mc]?[jt]s$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/\\.pnpm/(?!(${esOnly})[^/]*)(?!.*\\.mjs$)`],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1', '$1.js'] },
  globalSetup: '<rootDir>/packages/testing/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/packages/testing/jest/global-teardown.mjs',
  reporters: [
    'default',
    '<rootDir>/packages/testing/jest/duration-reporter.mjs',
    ['<rootDir>/packages/testing/jest/left-out-reporter.mjs', { others: leftOut }],
  ],
  testSequencer: '<rootDir>/packages/testing/jest/duration-sequencer.mjs',
  // No test is judged by its speed: this only ends a hang, with the test's name, and also on a busy machine.
  testTimeout: 180_000,
  // A worker waits for processes and databases about half of its time.
  maxWorkers: Math.max(4, Math.floor(availableParallelism() / 2)),
};
