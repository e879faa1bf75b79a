import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/* Schemathesis, which makes valid and invalid requests of an OpenAPI document and compares the responses with it. */

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

/**
 * All operations take a quarter of an hour. A run takes an eighth, whose resources are those of neighbouring paths, and another
 * one each day; `FUZZ=all` takes all, and `FUZZ=0` to `7` one of them.
 */
const PARTS = 8;
const DAY_MS = 86_400_000;

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Named {
  readonly id: string;
  /** As the fuzzer reports it, such as `GET /api/v1/users`. */
  readonly label: string;
}

function chooseOperations({ paths }: Document): readonly Named[] {
  const all = Object.keys(paths)
    .toSorted()
    .flatMap((path) =>
      Object.entries(paths[path] ?? {}).map(([method, { operationId: id }]) => ({
        id,
        label: `${method.toUpperCase()} ${path}`,
      })),
    );
  const { FUZZ: wanted } = process.env;
  if (wanted === 'all') return all;
  const part = wanted === undefined ? Math.floor(Date.now() / DAY_MS) % PARTS : Number(wanted);
  if (!Number.isInteger(part) || part < 0 || part >= PARTS)
    throw new Error(`FUZZ is "all" or a number below ${PARTS}, not ${wanted}`);
  return all.slice(Math.floor((part * all.length) / PARTS), Math.floor(((part + 1) * all.length) / PARTS));
}

/**
 * Returns the document as the fuzzer gets it: without the default responses, with which every status would conform; without
 * the key of a repeated request, since all requests would have the same one, and only the first would be looked at; and
 * without the time for which a worker waits.
 */
function toFuzzedDocument(text: string): Document {
  return JSON.parse(text, (name, value: unknown) => {
    if (name === 'parameters' && Array.isArray(value))
      return value.filter((one: { readonly name?: string }) => one.name !== 'idempotency-key');
    if (name === 'responses' || name === 'properties') {
      const left = name === 'responses' ? 'default' : 'waitMs';
      return Object.fromEntries(Object.entries(value as object).filter(([key]) => key !== left));
    }
    return value;
  }) as Document;
}

/** Returns the operations that the fuzzer has sent requests of. */
async function readTried(report: string): Promise<string[]> {
  const lines = (await readFile(report, 'utf8')).split('\n');
  const labels = lines
    .filter((line) => line.startsWith('{"ScenarioFinished"'))
    .map((line) => JSON.parse(line) as { ScenarioFinished: { recorder: { label: string } } })
    .map(({ ScenarioFinished: { recorder } }) => recorder.label);
  return [...new Set(labels)];
}

export interface FuzzOptions {
  readonly service: string;
  /** The OpenAPI document. */
  readonly document: string;
  readonly url: string;
  /** Opens a session. */
  readonly openSession: () => Promise<string>;
  /** The operations, by id, that are tried after the others, in this order: each can end its credential, or takes another one. */
  readonly apart: Readonly<Record<string, () => Promise<string>>>;
  readonly folder: string;
}

/**
 * Sends requests of the service's operations.
 *
 * @returns the operations that were chosen, and those that were tried.
 * @throws Error for a response that the document does not have.
 */
export async function fuzz({ service, document, url, openSession, apart, folder }: FuzzOptions) {
  const fuzzed = toFuzzedDocument(await readFile(document, 'utf8'));
  const file = join(folder, `${service}.json`);
  await writeFile(file, JSON.stringify(fuzzed));
  const chosen = chooseOperations(fuzzed);
  const report = join(folder, 'fuzz.ndjson');
  const checks = service === 'identity' ? CHECKS : [...CHECKS, ...METHOD_CHECKS];

  async function send(operations: readonly Named[], credential: string): Promise<string[]> {
    const config = join(import.meta.dirname, 'fixtures/schemathesis.toml');
    const options =
      `--config-file ${config} run ${file} --url ${url} --phases coverage --seed 1 --checks ${checks.join()} ` +
      `--continue-on-failure --no-shrink --no-color --report ndjson --report-ndjson-path ${report} --header`;
    const included = operations.flatMap(({ id }) => ['--include-operation-id', id]);
    const args = [...options.split(' '), `Authorization: Bearer ${credential}`, ...included];
    await promisify(execFile)('schemathesis', args, { cwd: folder, maxBuffer: 64 * 1_048_576 }).catch(
      (error: unknown) => {
        const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
        throw new Error(`schemathesis failed:\n${(stdout + stderr).slice(-8_000)}`);
      },
    );
    return readTried(report);
  }

  const together = chosen.filter(({ id }) => apart[id] === undefined);
  const tried = await send(together, await openSession());
  for (const [id, authenticate] of Object.entries(apart)) {
    const operations = chosen.filter((operation) => operation.id === id);
    if (operations.length > 0) tried.push(...(await send(operations, await authenticate())));
  }
  return { chosen: chosen.map(({ label }) => label), tried };
}
