import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { callUrl, describeWith } from '@platform/testing';
import { makeDataDir, type Platform, printed, startPlatform } from '../platform.js';

/*
 * Tests the OpenAPI documents with third-party tools: two generators of clients, and a fuzzer that compares the
 * platform with them.
 */

/** Identity comes last, because the fuzzer may invalidate its own credential there. */
const SERVICES = ['mail', 'crawl', 'identity'];
const ROOT = resolve(import.meta.dirname, '../../../..');
const getDocumentPath = (service: string) => join(ROOT, 'services', service, 'openapi.json');
/** The fuzzer tests each document for this long. */
const FUZZ_SECONDS = 30;
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'ignored_auth',
];

/**
 * Other methods fail with 405 and `Allow`. This is not checked for identity: there, `DELETE
 * …/personal-access-tokens/scopes` matches the route of a token's id, and fails with 400 because it is none.
 */
const METHOD_CHECKS = ['unsupported_method', 'allow_header_conformance'];

/** Runs a tool in a folder of the test; its error contains the end of the tool's output. */
const runIn = (cwd: string, program: string, args: readonly string[]): Promise<string> =>
  new Promise((done, fail) => {
    execFile(program, [...args], { cwd, maxBuffer: 64 * 1_048_576 }, (error, stdout, stderr) => {
      if (error) fail(new Error(`${program} failed:\n${`${stdout}${stderr}`.slice(-8_000)}`));
      else done(stdout + stderr);
    });
  });

async function listOperationIds(service: string): Promise<string[]> {
  const { paths } = JSON.parse(await readFile(getDocumentPath(service), 'utf8')) as {
    readonly paths: Record<string, Record<string, { readonly operationId: string }>>;
  };
  return Object.values(paths).flatMap((operations) =>
    Object.values(operations).map(({ operationId }) => operationId),
  );
}

describeWith('openapi-tools', 'the OpenAPI documents', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-documents-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const run = (program: string, args: readonly string[]) => runIn(folder, program, args);

  test.each(SERVICES)('yield a Python client of all operations of %s without a warning', async (service) => {
    const output = join(folder, service);
    const args = ['generate', '--fail-on-warning', '--meta', 'none', '--path', getDocumentPath(service)];
    await run('openapi-python-client', [...args, '--output-path', output]);
    const files = await readdir(join(output, 'api'), { recursive: true });
    const toSnakeCase = (id: string) => id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const operationIds = await listOperationIds(service);
    const expected = operationIds.map((id) => expect.stringMatching(new RegExp(`/${toSnakeCase(id)}\\.py$`)));
    expect(files).toEqual(expect.arrayContaining(expected));
  });

  test.each(SERVICES)('yield a Go client of all operations of %s', async (service) => {
    const source = await run('oapi-codegen', [
      '-generate',
      'types,client',
      '-package',
      service,
      getDocumentPath(service),
    ]);
    for (const id of await listOperationIds(service))
      expect(source).toContain(`${id[0]?.toUpperCase()}${id.slice(1)}(ctx context.Context`);
  });

  describe('compared with the running platform', () => {
    let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
    let platform: Platform;
    let url: string;
    let session: string;

    beforeAll(async () => {
      dataDir = await makeDataDir();
      platform = await startPlatform({ dataDir: dataDir.path });
      await platform.settled;
      url = `http://127.0.0.1:${platform.port}`;
      const credentials = { email: printed(platform, 'Admin'), password: printed(platform, 'Password') };
      const { body } = await callUrl(`${url}/api/v1/auth/login`, 'POST', { body: credentials });
      session = body.accessToken as string;
    });
    afterAll(async () => {
      platform.child.kill('SIGTERM');
      await platform.exited;
      await dataDir.remove();
    });

    /** Sending mail requires a token, everything else an administrator's session. */
    async function credentialFor(service: string): Promise<string> {
      if (service !== 'mail') return session;
      const body = { name: 'fuzzer', scopes: ['SEND_MAIL', 'FETCH_CONFIG'] };
      const created = await callUrl(`${url}/api/v1/personal-access-tokens`, 'POST', { token: session, body });
      return created.body.token.accessToken as string;
    }

    test.each(SERVICES)('%s conforms to its document for generated requests', async (service) => {
      const token = await credentialFor(service);
      const config = join(import.meta.dirname, 'schemathesis.toml');
      const checks = service === 'identity' ? CHECKS : [...CHECKS, ...METHOD_CHECKS];
      const bounds = `--phases coverage,fuzzing --max-time ${FUZZ_SECONDS} --seed 1`;
      const said = await run('schemathesis', [
        ...`--config-file ${config} run ${getDocumentPath(service)} --url ${url}`.split(' '),
        ...`${bounds} --checks ${checks.join()} --continue-on-failure --no-shrink --no-color`.split(' '),
        '--header',
        `Authorization: Bearer ${token}`,
      ]);
      expect(said).toMatch(/Tested: \d+/);
    });
  });
});
