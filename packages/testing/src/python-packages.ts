import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '@platform/embedded';
import { installOnce } from './install-once.js';

const MCP = [
  'mcp==2.3.0',
  // Events for servers of the SDK, as ChatGPT takes them.
  'mcp-webhook-events==0.2.0',
  // A framework of others on the SDK, with an authorization server of its own.
  'fastmcp==4.2.3',
];
const KAFKA = ['confluent-kafka==2.16.1', 'kafka-python==3.0.12', 'cloudevents==2.2.0'];
const INSTALL_TIMEOUT_MS = 120_000;
const run = promisify(execFile);

async function install(folder: string, packages: readonly string[]): Promise<void> {
  await run('python3', ['-m', 'venv', folder]);
  const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages];
  await run(join(folder, 'bin/python'), args, { timeout: INSTALL_TIMEOUT_MS });
}

async function ensurePython(name: string, packages: readonly string[]): Promise<string> {
  const versions = packages.map((each) => each.split('==')[1]).join('-');
  return installOnce(`python-${name}-${versions}`, 'bin/python', (folder) => {
    if (findProgram('python3') === undefined)
      throw new Error('there is no python3 on the PATH: install Python 3.10');
    return install(folder, packages).catch((error: unknown) => {
      const [line] = (error as Error).message.split('\n').filter((text) => /error/i.test(text));
      throw new Error(`${packages.join(', ')} can't be installed for Python: ${line ?? 'unknown fault'}`, {
        cause: error,
      });
    });
  });
}

/**
 * Returns a Python that has the official MCP SDK, mcp-webhook-events and FastMCP, which are installed the first time.
 *
 * @throws Error when there is no Python, or a package cannot be installed.
 */
export const ensurePythonMcp = (): Promise<string> => ensurePython('mcp', MCP);

/** The same with two clients of Kafka and the SDK of CloudEvents. */
export const ensurePythonKafka = (): Promise<string> => ensurePython('kafka', KAFKA);
