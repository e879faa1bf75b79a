import { findProgram, findRedisServer } from '@platform/embedded';
import { isDockerAnswering } from '../docker-engine.js';
import { findChromium } from '../find-chromium.js';
import { ensureInspector } from '../inspector.js';
import { ensurePythonKafka, ensurePythonMcp } from '../python-packages.js';
import { type LazyService, readGiven } from '../environment.js';

/**
 * What a group of tests may need beyond Node, npm and the base system: a server of the run, a server that it may
 * break (`own-…`), or a program.
 */
export const REQUIREMENTS = [
  'kafka',
  'own-kafka',
  'redis',
  'own-redis',
  'nginx',
  'helm',
  'curl',
  'chromium',
  'openapi-tools',
  'python',
  'go',
  'python-kafka',
  'python-mcp',
  'airbyte-sources',
  'inspector',
  'mail-servers',
] as const;
export type Requirement = (typeof REQUIREMENTS)[number];

/** Maps each requirement that this machine doesn't meet to the reason and the remedy, in one clause without a full stop. */
export type Missing = Readonly<Partial<Record<Requirement, string>>>;

/** Looks for everything that tests may need; packages of Python and the Inspector are fetched if need be, nothing is started. */
export async function findMissing(): Promise<Missing> {
  const toReason = (needed: Promise<unknown>): Promise<string | undefined> =>
    needed.then(
      () => undefined,
      (error: Error) => error.message,
    );
  const [hasDocker, redis, pythonKafka, pythonMcp, inspector] = await Promise.all([
    isDockerAnswering(),
    toReason(findRedisServer()),
    toReason(ensurePythonKafka()),
    toReason(ensurePythonMcp()),
    toReason(ensureInspector()),
  ]);
  const kafka = lacking(['java', 'mvn'], 'install Java 17 and Maven');
  const canShare = (service: LazyService) => hasDocker || readGiven(service) !== undefined;
  const orShare = (reason: string | undefined, variable: string) =>
    reason && `${reason}, or start Docker, or set ${variable}`;
  return dropMet({
    'own-kafka': kafka,
    kafka: canShare('kafka') ? undefined : orShare(kafka, 'KAFKA_BROKERS'),
    'own-redis': redis,
    redis: canShare('redis') ? undefined : redis,
    nginx: lacking(['nginx', 'envsubst'], 'install nginx and gettext'),
    helm: lacking(['helm'], 'install Helm 3, or run .ci/openapi-tools, which needs Python and Go'),
    curl: lacking(['curl'], 'install curl'),
    chromium: findChromium()
      ? undefined
      : 'there is no Chromium on the PATH: install chromium-headless-shell',
    'openapi-tools': lacking(
      ['schemathesis', 'oapi-codegen', 'hatchling', 'oasdiff', 'helm'],
      'run .ci/openapi-tools, which needs Python and Go',
    ),
    python: lacking(['python3'], 'install Python 3.9'),
    go: lacking(['go'], 'install Go 1.24'),
    'python-kafka': pythonKafka,
    'python-mcp': pythonMcp,
    'airbyte-sources': lacking(
      ['faker', 'file', 'github', 'gitlab', 'jira', 'confluence', 'slack', 'notion', 'zendesk-support'].map(
        (name) => `source-${name}`,
      ),
      'run .ci/airbyte-sources, which needs Python 3.10, and put its folder on the PATH',
    ),
    inspector,
    'mail-servers': lacking(['postfix', 'exim4'], 'run .ci/mail-servers as root, on Debian'),
  });
}

function lacking(programs: readonly string[], remedy: string): string | undefined {
  const absent = programs.filter((program) => findProgram(program) === undefined);
  return absent.length === 0 ? undefined : `there is no ${absent.join(' and no ')} on the PATH: ${remedy}`;
}

const dropMet = (reasons: Readonly<Record<Requirement, string | undefined>>): Missing =>
  Object.fromEntries(Object.entries(reasons).filter(([, reason]) => reason !== undefined));
