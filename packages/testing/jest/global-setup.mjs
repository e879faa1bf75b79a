import {
  ADMIN_URL_VARIABLE,
  findMissing,
  startLazyServices,
  startTestPostgres,
  writeMissing,
} from '@platform/testing';

/**
 * Starts the PostgreSQL server of the run, and passes its address, and what this machine lacks, to the workers by
 * environment variables.
 */
export default async function setUp() {
  const [server, services, missing] = await Promise.all([
    startTestPostgres(),
    startLazyServices(),
    // Only the full run may need anything, and looking for it can mean fetching it.
    process.env.TEST_ALL === '1' ? findMissing() : {},
  ]);
  process.env[ADMIN_URL_VARIABLE] = server.adminUrl;
  Object.assign(process.env, services.variables, writeMissing(missing));
  globalThis.testPostgres = server;
  globalThis.lazyServices = services;
}
