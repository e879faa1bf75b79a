/// <reference types="@fastify/swagger" preserve="true" />
// Anything exported here is public: services and packages import from this file, and runMain from `run-main`.
export { type App, type AppOptions, createApp, createErrorHandler, type ServiceApp } from './app.js';
export { type Clock, systemClock } from './clock.js';
export {
  ConfigError,
  integer,
  list,
  loadConfig,
  oneOf,
  port,
  text,
  url,
  type Values,
  type Variable,
  withDefault,
} from './config.js';
export { describeVariables } from './config-description.js';
export { createPool, isDatabaseUnavailable, type PoolOptions } from './database.js';
export { isDisplayName } from './display-name.js';
export { readDomain, readEmailAddress } from './email-address.js';
export { type ErrorFamily, type PublicError, standardErrors } from './error-family.js';
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
export type { Health, ReadinessCheck } from './health.js';
export { findValueFault } from './json-body.js';
export { readJsonShape } from './json-limits.js';
export { isHeaderRepeated } from './repeated-header.js';
export { createServerErrorLog } from './server-error-log.js';
export { createLogger, type Logger, scrub } from './logging.js';
export { MigrationError } from './apply-migration.js';
export { assertMigrated, migrate } from './migrations.js';
export {
  type Page,
  PageOf,
  PageQuery,
  type PageWindow,
  pageWindow,
  Pagination,
  toPagination,
} from './pagination.js';
export { serve, type ServeOptions } from './serve.js';
export { serviceVariables } from './service-variables.js';
export { createShutdown, type Shutdown, type ShutdownPhase, shutdownPhases } from './shutdown.js';
export {
  currentTraceparent,
  isTracing,
  type PublishSpan,
  type SpanOptions,
  startPublishSpan,
  withSpan,
} from './tracing/spans.js';
export { startTracing } from './tracing/start.js';
export type { Tracing, TracingConfig } from './tracing/tracing.js';
export { nothingDone, translateError } from './translate-error.js';
export { createValidatorCompiler, describeFaults } from './validation.js';
