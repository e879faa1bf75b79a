import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { installOnce } from './install-once.js';

const PACKAGE = '@modelcontextprotocol/inspector';
const VERSION = '2.12.0';
const INSTALL_TIMEOUT_MS = 120_000;
const run = promisify(execFile);

/**
 * Returns the program of the MCP Inspector, which is installed the first time. It is no dependency of the repository,
 * because it brings a web framework with it. Its package asks for Node 22; its command line runs on Node 20.19.
 *
 * @throws Error when the package can't be had.
 */
export const ensureInspector = (): Promise<string> =>
  installOnce(`inspector-${VERSION}`, `node_modules/${PACKAGE}/clients/launcher/build/index.js`, (folder) => {
    const options = ['--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', '--no-save'];
    const args = ['install', ...options, `${PACKAGE}@${VERSION}`];
    return run('npm', args, { timeout: INSTALL_TIMEOUT_MS }).catch((error: unknown) => {
      throw new Error(`${PACKAGE} ${VERSION} can't be installed with npm`, { cause: error });
    });
  });
