// Makes the wheel for Python: the client, whose calls are generated from the OpenAPI documents, and the worker kit.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, SetupError, toolEnv } from '../config/setup.mjs';
import { generatePythonService } from './python-client.mjs';

const SERVICES = ['identity', 'mail', 'crawl'];
const PACKAGE = 'workspace_platform';
const run = promisify(execFile);

/** @throws SetupError with what the tool says. */
async function runTool(tool, args, options) {
  try {
    await run(tool, args, { maxBuffer: 64 * 1_048_576, ...options });
  } catch (error) {
    if (error.code !== 'ENOENT') throw new SetupError(`${tool} failed:\n${error.stdout}${error.stderr}`);
    throw new SetupError(
      `There is no ${tool} on the PATH. Run .ci/openapi-tools <folder>, which needs Python and Go, and put the folder on the PATH.`,
    );
  }
}

async function writeSources(folder, note) {
  const source = join(folder, PACKAGE);
  await cp(join(ROOT, 'packages/crawl-worker/python/crawl_worker.py'), join(source, 'crawl_worker.py'));
  for (const service of SERVICES) {
    note(service);
    const document = await readFile(join(ROOT, 'services', service, 'openapi.json'), 'utf8');
    await writeFile(join(source, `${service}.py`), generatePythonService(service, JSON.parse(document)));
  }
}

/**
 * @param {{version: string, seconds: string, folder: string, note: (detail: string) => void}} about
 * @returns {Promise<{file: string, kind: 'wheel', name: string}>}
 */
export async function packPythonWheel({ version, seconds, folder, note }) {
  const made = await mkdtemp(join(tmpdir(), 'platform-wheel-'));
  const output = join(folder, 'python');
  try {
    await cp(join(import.meta.dirname, 'python'), made, { recursive: true });
    await cp(join(ROOT, 'LICENSE'), join(made, 'LICENSE'));
    const project = await readFile(join(made, 'pyproject.toml'), 'utf8');
    await writeFile(join(made, 'pyproject.toml'), project.replace('"0.0.0"', `"${version}"`));
    await writeSources(made, note);
    note('wheel');
    await runTool('hatchling', ['build', '--target', 'wheel', '--directory', output], {
      cwd: made,
      env: { ...toolEnv(), SOURCE_DATE_EPOCH: seconds },
    });
    const [file] = await readdir(output);
    return { file: join('python', file), kind: 'wheel', name: 'workspace-platform' };
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}
