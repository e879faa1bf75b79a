import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '@platform/embedded';
import { installOnce } from './install-once.js';

const VERSION = '2.3.0';
/** Events for servers of the SDK, as ChatGPT takes them. */
const EVENTS_VERSION = '0.2.0';
/** A framework of others on the SDK, with an authorization server of its own. */
const FASTMCP_VERSION = '4.2.3';
const INSTALL_TIMEOUT_MS = 120_000;
const run = promisify(execFile);

async function install(folder: string): Promise<void> {
  await run('python3', ['-m', 'venv', folder]);
  const packages = [
    `mcp==${VERSION}`,
    `mcp-webhook-events==${EVENTS_VERSION}`,
    `fastmcp==${FASTMCP_VERSION}`,
  ];
  const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages];
  await run(join(folder, 'bin/python'), args, { timeout: INSTALL_TIMEOUT_MS });
}

/**
 * Returns a Python that has the official MCP SDK, mcp-webhook-events and FastMCP, which are installed the first time.
 *
 * @throws Error when there is no Python, or the package cannot be installed.
 */
export async function ensurePythonMcp(): Promise<string> {
  return installOnce(`python-mcp-${VERSION}-${EVENTS_VERSION}-${FASTMCP_VERSION}`, 'bin/python', (folder) => {
    if (findProgram('python3') === undefined)
      throw new Error('there is no python3 on the PATH: install Python 3.10');
    return install(folder).catch((error: unknown) => {
      const [line] = (error as Error).message.split('\n').filter((text) => /error/i.test(text));
      throw new Error(`mcp ${VERSION} can't be installed for Python: ${line ?? 'unknown fault'}`, {
        cause: error,
      });
    });
  });
}
