export default async function tearDown() {
  await globalThis.lazyServices?.stop();
  await globalThis.testPostgres?.stop();
  process.stderr.write(globalThis.leftOut ?? '');
}
