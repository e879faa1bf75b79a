// Public API of @platform/testing: anything exported here is meant to be used by the tests of other packages.
export { type Answer, callUrl, type CallOptions } from './call-url.js';
export { ADMIN_URL_VARIABLE } from './environment.js';
export { type LazyServices, startLazyServices } from './lazy/lazy-services.js';
export {
  describeWith,
  type OwnKafka,
  type OwnRedis,
  type Requirement,
  startOwnKafka,
  startOwnRedis,
  testKafka,
  testRedis,
} from './lazy/test-servers.js';
export { type SecuredKafka, startSecuredKafka } from './secured-kafka.js';
export { type OwnPostgres, startOwnPostgres } from './own-postgres.js';
export { createTestDatabase, type TestDatabase, type TestDatabaseOptions } from './test-database.js';
export { startTestPostgres, type TestPostgres } from './test-postgres.js';
export { waitFor, type WaitOptions } from './wait-for.js';
