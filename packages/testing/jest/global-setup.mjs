// Jest imports this file natively, outside its loader, and so the built packages: build before the tests.
import { ADMIN_URL_VARIABLE, startTestPostgres } from '@platform/testing';

/** Starts the one server of the run, and tells the workers by environment where it is. */
export default async function setUp() {
  const server = await startTestPostgres();
  process.env[ADMIN_URL_VARIABLE] = server.adminUrl;
  globalThis.testPostgres = server;
}
