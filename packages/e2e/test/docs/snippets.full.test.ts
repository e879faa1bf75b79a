import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { listFiles, read } from './files.js';

/* Every snippet of every document can be read by what it is for. Tests beside the code run the programs of the guides. */

interface Snippet {
  readonly place: string;
  readonly language: string;
  readonly code: string;
}

const snippets = listFiles('.', (path) => path.endsWith('.md')).flatMap((path) =>
  [...read(path).matchAll(/^( *)```(\w*)[^\n]*\n(.*?)^\1```/gms)].map(
    ([, , language = '', code = ''], index): Snippet => ({
      place: `${path}, snippet ${index + 1}`,
      language,
      code,
    }),
  ),
);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'snippets-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Has a program read a file with the code. @returns what it finds wrong. */
function check(code: string, extension: string, command: string, ...args: readonly string[]): string {
  const file = join(folder, `snippet.${extension}`);
  writeFileSync(file, code);
  const { status, stderr } = spawnSync(command, [...args, file], { encoding: 'utf8' });
  return status === 0 ? '' : stderr || `${command} ended with ${status}`;
}

function checkJson(code: string): string {
  try {
    JSON.parse(code);
    return '';
  } catch (whole) {
    try {
      // Documents are handed over as a JSON value in each line.
      for (const line of code.trim().split('\n')) JSON.parse(line);
      return '';
    } catch {
      return String(whole);
    }
  }
}

const PYTHON_CHECK = 'import ast, sys; ast.parse(open(sys.argv[1]).read())';

/** What reads a language; the samples of packages in `ts` are compiled by another test. */
const readers: Readonly<Record<string, (code: string) => string>> = {
  sh: (code) => check(code, 'sh', 'bash', '-n'),
  js: (code) => check(code, 'mjs', process.execPath, '--check'),
  python: (code) => check(code, 'py', 'python3', '-c', PYTHON_CHECK),
  json: checkJson,
  yaml: (code) =>
    parseAllDocuments(code)
      .flatMap(({ errors }) => errors.map(String))
      .join(),
  ts: () => '',
  text: () => '',
  mermaid: () => '',
  // A part of a program, which no compiler reads without the rest.
  java: () => '',
  // There is no PowerShell on the machines that run the tests.
  powershell: () => '',
};

test('API-35 every snippet of the documents has a language, and can be read by what it is for', () => {
  expect(snippets.length).toBeGreaterThan(100);
  const faults = snippets.flatMap(({ place, language, code }) => {
    const fault = readers[language]?.(code) ?? `nothing reads the language "${language}"`;
    return fault === '' ? [] : [`${place}: ${fault}`];
  });
  expect(faults).toEqual([]);
});
