import {
  type EmbeddedKafka,
  type EmbeddedKafkaOptions,
  type EmbeddedRedis,
  startEmbeddedKafka,
  startEmbeddedRedis,
} from '@platform/embedded';
import { makeTemporaryDir } from '../temporary-dir.js';
import { assertDeclared } from '../requirements/describe-with.js';
import { type LazyService, readLazyServicesUrl } from './environment.js';

/** The broker of the run, shared by all tests: use topics and groups of your own. */
export async function testKafka(): Promise<{ readonly brokers: string[] }> {
  return { brokers: (await ask('kafka')).split(',') };
}

/** The Redis of the run, shared by all tests: use a key prefix of your own, and never flush it. */
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

/** Starts a Redis that one test may break; `close()` it. It writes an append-only file, as in production. */
export async function startOwnRedis(): Promise<EmbeddedRedis> {
  assertDeclared('own-redis');
  return startEmbeddedRedis({ dataDir: await makeTemporaryDir('platform-own-redis-'), isTemporary: true });
}

async function ask(service: LazyService): Promise<string> {
  assertDeclared(service);
  const response = await fetch(new URL(service, readLazyServicesUrl()));
  const text = await response.text();
  if (!response.ok) throw new Error(`the tests' ${service} does not start: ${text}`);
  return text;
}
