// Public API of @platform/testing: anything exported here is meant to be used by the tests of other packages.
export { withAdmin } from './admin-client.js';
export { ambiguousMessages, findMisreading } from './ambiguous-messages.js';
export { type Browser, launchBrowser, type Page } from './browser.js';
export { type Answer, callUrl, type CallOptions } from './call-url.js';
export {
  type ApiDocument,
  type DocumentedRequest,
  findDisagreements,
  openDocument,
} from './documented-requests.js';
export { issueCertificate } from './certificates.js';
export { describeDatabase, describePrismaSchema } from './describe-schema.js';
export { ADMIN_URL_VARIABLE } from './environment.js';
export { replaceGenerated } from './generated-section.js';
export { ensureInspector } from './inspector.js';
export { ENCRYPTION_KEYS, SERVICE_SECRET, type TestOrganisation } from './lazy/identity.js';
export { type LazyServices, startLazyServices } from './lazy/lazy-services.js';
export {
  BrokenPromiseError,
  createExplorer,
  type Exploration,
  type ExplorationReport,
  listSets,
  type Outcomes,
} from './interleavings/explore.js';
export { type Act, startActing } from './interleavings/acts.js';
export {
  type OwnKafka,
  type OwnRedis,
  type TestIdentity,
  type TestPlatform,
  findKafkaJars,
  startOwnKafka,
  startOwnRedis,
  testIdentity,
  testPlatform,
  testKafka,
  testRedis,
} from './lazy/test-servers.js';
export { createProofKey, type ProofKey } from './proof-key.js';
export { ensurePythonKafka, ensurePythonMcp } from './python-packages.js';
export { createRandom } from './random.js';
export { firstCopiesByKey, type ReadMessage, readTopic, type TopicReader } from './read-topic.js';
export { assertDeclared, describeWith } from './requirements/describe-with.js';
export { readMissing, writeMissing } from './requirements/environment.js';
export { describeLeftOut } from './requirements/left-out.js';
export { findMissing, type Requirement } from './requirements/requirements.js';
export { type SecuredKafka, startSecuredKafka } from './secured-kafka.js';
export { type OwnPostgres, startOwnPostgres } from './own-postgres.js';
export { startStopwatch, type Stopwatch } from './stopwatch.js';
export { createTestDatabase, type TestDatabase, type TestDatabaseOptions } from './test-database.js';
export { startTestPostgres, type TestPostgres } from './test-postgres.js';
export { waitFor, type WaitOptions } from './wait-for.js';
