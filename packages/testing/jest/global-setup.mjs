// Jest imports this file natively, outside its loader, and so the built packages: build before the tests.
import { ADMIN_URL_VARIABLE, startLazyServices, startTestPostgres } from '@platform/testing';

/** Starts the one server of the run, and tells the workers by environment where it is. */
export default async function setUp() {
  const [server, services] = await Promise.all([startTestPostgres(), startLazyServices()]);
  process.env[ADMIN_URL_VARIABLE] = server.adminUrl;
  Object.assign(process.env, services.variables);
  globalThis.testPostgres = server;
  globalThis.lazyServices = services;
}
