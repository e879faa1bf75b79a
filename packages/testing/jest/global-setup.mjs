// Jest imports this file natively, outside its loader, and so the built packages: build before the tests.
import {
  ADMIN_URL_VARIABLE,
  findMissing,
  startLazyServices,
  startTestPostgres,
  writeMissing,
} from '@platform/testing';

/** Starts the one server of the run, and tells the workers by environment where it is and what this machine lacks. */
export default async function setUp() {
  const [server, services, missing] = await Promise.all([
    startTestPostgres(),
    startLazyServices(),
    findMissing(),
  ]);
  process.env[ADMIN_URL_VARIABLE] = server.adminUrl;
  Object.assign(process.env, services.variables, writeMissing(missing));
  globalThis.testPostgres = server;
  globalThis.lazyServices = services;
}
