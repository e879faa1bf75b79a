// Public API of @platform/embedded: anything exported here is meant to be used by other packages.
export {
  type ChildServer,
  type ChildServerOptions,
  launchChildServer,
  type ServerExit,
} from './child-server.js';
export { EmbeddedServerError, PortTakenError } from './errors.js';
export { readCacheDir } from './environment.js';
export { findProgram } from './find-program.js';
export { findFreePort } from './free-port.js';
export { ensureKafkaJars } from './kafka/distribution.js';
export { type EmbeddedKafka, type EmbeddedKafkaOptions, startEmbeddedKafka } from './kafka/kafka.js';
export { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './postgres.js';
export { inspectProcess, listChildren, listDescendants, sendSignal } from './processes.js';
export {
  type EmbeddedRedis,
  type EmbeddedRedisOptions,
  findRedisServer,
  startEmbeddedRedis,
} from './redis.js';
export type { RestartableServer } from './restartable-server.js';
