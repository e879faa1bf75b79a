export default async function tearDown() {
  await Promise.all([globalThis.testPostgres?.stop(), globalThis.lazyServices?.stop()]);
  process.stderr.write(globalThis.leftOut ?? '');
}
