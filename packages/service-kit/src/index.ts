/// <reference types="@fastify/swagger" preserve="true" />
// Anything exported here is public: services and packages import from this file, and runMain from `run-main`.
export { createErrorHandler } from './http/error-handler.js';
export { type App, type AppOptions, createApp, type ServiceApp } from './http/app.js';
export { type IdempotencyOptions, registerIdempotency } from './http/idempotency.js';
export { backoffMs, type BackoffOptions } from './concurrency/backoff.js';
export { type BatchWriterOptions, createBatchWriter } from './concurrency/batch-writer.js';
export { type BatcherOptions, createBatcher } from './concurrency/batcher.js';
export { createPermits, type Permits } from './concurrency/permits.js';
export { type CountRequest, createTokenBuckets } from './concurrency/token-buckets.js';
export {
  createPeriodicTask,
  type PeriodicTask,
  type PeriodicTaskOptions,
} from './concurrency/periodic-task.js';
export { type Clock, DAY_MS, HOUR_MS, systemClock } from './clock.js';
export {
  ConfigError,
  integer,
  list,
  loadConfig,
  oneOf,
  parsedList,
  port,
  text,
  origin,
  url,
  type Values,
  type Variable,
  withDefault,
} from './config/config.js';
export { describeVariables } from './config/config-description.js';
export {
  assertWritable,
  createPool,
  isDatabaseUnavailable,
  type PoolOptions,
  refuseStandby,
} from './data/database.js';
export { createIdAt, firstIdAt } from './data/first-id.js';
export { inTransaction } from './data/transaction.js';
export { isDisplayName } from './data/display-name.js';
export { type BoxKey, createSecretBox, encryptionKeys, type SecretBox } from './data/secret-box.js';
export { readDomain, readEmailAddress } from './data/email-address.js';
export { givenInstant } from './data/text-formats.js';
export { HTTP_URL_PATTERN, parseHttpUrl, parseUrl } from './parse-url.js';
export { createWebhookSecret, parseWebhookSecret, signatureHeaders } from './egress/webhook-signature.js';
export {
  createWebhookSecrets,
  readWebhookKeys,
  replaceWebhookSecret,
  tooManyWebhookSecrets,
} from './egress/webhook-secrets.js';
export { createEgress, type Egress, TargetDenied } from './egress/egress.js';
export { createProviderFetch } from './egress/provider-fetch.js';
export { readRetryAfter } from './egress/retry-after.js';
export { SECRET_HEADER_PATTERN } from './egress/secret-header.js';
export { createHostResolver, type ResolveHost } from './egress/resolve-host.js';
export { createTargetPolicy, type TargetPolicy } from './egress/target-policy.js';
export { parseTarget, type RangeTarget, type Target } from './egress/target.js';
export { type ErrorFormat, type PublicError, standardErrors } from './error-format.js';
export {
  AppError,
  type AppErrorOptions,
  conflict,
  dependencyUnavailable,
  type FaultDetail,
  notFound,
  tooManyRequests,
  validationError,
} from './errors.js';
export { addErrors, createErrorResponses, errorResponses, withErrors } from './openapi/error-responses.js';
export type { Health, ReadinessCheck } from './http/health.js';
export { IdPath, Message } from './http/schemas.js';
export { findValueFault } from './http/body/json-body.js';
export { findExcess } from './http/body/json-limits.js';
export {
  findInexactNumber,
  getBodyText,
  JsonText,
  parseJson,
  readJsonElements,
  readJsonMembers,
  readJsonText,
  stringifyJson,
  writeJsonMembers,
} from './http/body/json-text.js';
export { isHeaderRepeated } from './http/repeated-header.js';
export { createServerErrorLog } from './telemetry/server-error-log.js';
export { createLogger, type Logger, scrub } from './telemetry/logging.js';
export { MigrationError } from './data/apply-migration.js';
export { awaitIdentity } from './process/await-identity.js';
export { reportMissingKeys } from './data/missing-keys.js';
export { reencryptAll, type SealedColumn } from './data/re-encryption.js';
export { assertMigrated, findMigrations, migrate } from './data/migrations.js';
export { endPendingRestore, isRestorePending } from './data/pending-restore.js';
export {
  type Page,
  PageOf,
  PageQuery,
  type PageWindow,
  pageWindow,
  Pagination,
  toPagination,
} from './data/pagination.js';
export {
  type ListPage,
  ListPageOf,
  ListQuery,
  type ListWindow,
  NextCursor,
  readListPage,
  searchBy,
  SearchQuery,
} from './data/list-page.js';
export {
  type Command,
  type CommandsDefinition,
  defineCommands,
  UsageError,
} from './process/define-commands.js';
export { createReencryptCommand } from './process/reencrypt-command.js';
export {
  defineService,
  type ResourceOptions,
  type ServiceDefinition,
  type ServiceDeps,
} from './process/define-service.js';
export { serve, type ServeOptions } from './process/serve.js';
export { serviceVariables } from './config/service-variables.js';
export { createShutdown, type Shutdown, type ShutdownPhase, shutdownPhases } from './shutdown.js';
export {
  currentTraceparent,
  isTracing,
  type PublishSpan,
  type SpanOptions,
  startPublishSpan,
  withOperationSpan,
  withSpan,
} from './telemetry/tracing/spans.js';
export { startTracing } from './telemetry/tracing/start.js';
export type { Tracing, TracingConfig } from './telemetry/tracing/tracing.js';
export { VERSION } from './version.js';
export { notApplied, translateError } from './http/translate-error.js';
export { createValidatorCompiler, describeFaults } from './http/validation.js';
