import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedServerError } from '../errors.js';

const run = promisify(execFile);

const KAFKA_VERSION = '4.2.0';
const LOG4J_VERSION = '2.25.1';
const JAVA_MIN = 17;

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${KAFKA_VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId>
      <version>${LOG4J_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

/**
 * Returns the directory with Apache Kafka's jars. Maven downloads them the first time (43 MB), with the user's own
 * settings. Several processes may do so at once: a complete directory is renamed into place.
 */
export async function ensureKafkaJars(cacheDir: string): Promise<string> {
  const libs = join(cacheDir, `kafka-${KAFKA_VERSION}`);
  if (await exists(libs)) return libs;
  await mkdir(dirname(libs), { recursive: true });
  const work = await mkdtemp(`${libs}.fetching-`);
  try {
    await writeFile(join(work, 'pom.xml'), POM);
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', '-DoutputDirectory=libs'];
    await run('mvn', ['--quiet', '--batch-mode', ...goal], { cwd: work }).catch(explainMaven);
    await rename(join(work, 'libs'), libs).catch(async (error: unknown) => {
      if (!(await exists(libs))) throw error;
    });
    return libs;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** @throws EmbeddedServerError when there is no Java, or one too old for Kafka 4. */
export async function assertJava(): Promise<void> {
  const needed = `Kafka needs Java ${JAVA_MIN} or newer on the PATH`;
  const { stderr } = await run('java', ['-version']).catch((cause: unknown) => {
    throw new EmbeddedServerError(`${needed}; install one`, { cause });
  });
  const version = /version "(?:1\.)?(\d+)/.exec(stderr)?.[1];
  if (Number(version) < JAVA_MIN) throw new EmbeddedServerError(`${needed}; this one is ${version}`);
}

function explainMaven(cause: NodeJS.ErrnoException & { stdout?: string }): never {
  const fault = cause.stdout?.split('\n').find((line) => line.includes('ERROR'));
  const reason =
    cause.code === 'ENOENT' ? 'mvn (Maven) is not on the PATH' : (fault?.trim() ?? cause.message);
  throw new EmbeddedServerError(`Kafka's jars can't be fetched: ${reason}`, { cause });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
