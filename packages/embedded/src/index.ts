// Public API of @platform/embedded: anything exported here is meant to be used by other packages.
export { EmbeddedPostgresError } from './errors.js';
export { findFreePort } from './free-port.js';
export { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './postgres.js';
export { listChildren, sendSignal } from './processes.js';
export { PortTakenError, type ServerExit } from './server-process.js';
