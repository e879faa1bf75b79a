import { randomUUID } from 'node:crypto';
import {
  ensureKafkaJars,
  readCacheDir,
  type EmbeddedKafka,
  type EmbeddedKafkaOptions,
  type EmbeddedRedis,
  type EmbeddedRedisOptions,
  startEmbeddedKafka,
  startEmbeddedRedis,
} from '@platform/embedded';
import { makeTemporaryDir } from '../temporary-dir.js';
import { assertDeclared } from '../requirements/describe-with.js';
import type { TestOrganisation } from './identity.js';
import { type LazyService, readLazyServicesUrl } from '../environment.js';
import type { PlatformAddresses } from './platform.js';

/** The broker of the run, shared by all tests: use unique topics and groups. */
export async function testKafka(): Promise<{ readonly brokers: string[] }> {
  return { brokers: (await ask('kafka')).split(',') };
}

/** The Redis of the run, shared by all tests: use a unique key prefix, and never flush it. */
export async function testRedis(): Promise<{ readonly url: string }> {
  return { url: await ask('redis') };
}

/** Servers that a test may stop, kill, suspend and start again. */
export type { EmbeddedKafka as OwnKafka, EmbeddedRedis as OwnRedis };

/** Starts a broker that one test may break; `close()` it. With `join`, it is another broker of a cluster. */
export async function startOwnKafka(
  options: Pick<EmbeddedKafkaOptions, 'settings' | 'accounts' | 'join'> = {},
): Promise<EmbeddedKafka> {
  assertDeclared('own-kafka');
  const dataDir = await makeTemporaryDir('platform-own-kafka-');
  return startEmbeddedKafka({ ...options, dataDir, isTemporary: true });
}

/** Returns the folder with Kafka's jars, for clients in Java. They are fetched the first time. */
export const findKafkaJars = (): Promise<string> => ensureKafkaJars(readCacheDir());

/**
 * Starts a Redis that one test may break; `close()` it. It writes an append-only file, as in production. With `sentinelOf`, it is
 * a Sentinel that watches another one under the name `main`.
 */
export async function startOwnRedis(
  options: Pick<EmbeddedRedisOptions, 'sentinelOf'> = {},
): Promise<EmbeddedRedis> {
  assertDeclared('own-redis');
  const dataDir = await makeTemporaryDir('platform-own-redis-');
  return startEmbeddedRedis({ ...options, dataDir, isTemporary: true });
}

/** The identity of the run, shared by all tests: use your own organisations, and never stop it. */
export interface TestIdentity {
  readonly url: string;
  /** The same name gets the same organisation in every test file; without a name it is a new one. */
  organisation(name?: string): Promise<TestOrganisation>;
}

/** The built identity, in a process. Its service clients `crawl`, `identity` and `mail` have the secret `SERVICE_SECRET`. */
export async function testIdentity(): Promise<TestIdentity> {
  return {
    url: await askDesk('identity'),
    organisation: async (name = randomUUID()) =>
      JSON.parse(await askDesk(`organisations/${name}`)) as TestOrganisation,
  };
}

/** The platform of the run, shared by all tests: use your own organisations, and never stop it. */
export interface TestPlatform extends PlatformAddresses {
  /** Creates an organisation. */
  organisation(): Promise<TestOrganisation>;
}

/** The built services behind a gateway, as `npm start` runs them. */
export async function testPlatform(): Promise<TestPlatform> {
  return {
    ...(JSON.parse(await askDesk('platform')) as PlatformAddresses),
    organisation: async () =>
      JSON.parse(await askDesk(`platform-organisations/${randomUUID()}`)) as TestOrganisation,
  };
}

async function ask(service: LazyService): Promise<string> {
  assertDeclared(service);
  return askDesk(service);
}

async function askDesk(path: string): Promise<string> {
  const response = await fetch(new URL(path, readLazyServicesUrl()));
  const text = await response.text();
  if (!response.ok) throw new Error(`the shared ${path} of the tests does not start: ${text}`);
  return text;
}
