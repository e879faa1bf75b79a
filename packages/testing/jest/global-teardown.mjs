export default async function tearDown() {
  await Promise.all([globalThis.testPostgres?.stop(), globalThis.lazyServices?.stop()]);
}
