import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, launchChildServer } from '@platform/embedded';

const START = fileURLToPath(new URL('../../../../local/start.mjs', import.meta.url));
export const PASSWORD = 'correct-horse-battery';

/** Starts the platform as `npm start` does, with an empty organisation. */
export async function startPlatform(folder: string) {
  const port = await findFreePort();
  const options = {
    port,
    'inbox-port': await findFreePort(),
    'smtp-catcher-port': await findFreePort(),
    'data-dir': join(folder, 'data'),
    'admin-password': PASSWORD,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { stop } = await launchChildServer({
    name: 'The platform',
    command: [process.execPath, START, ...flags],
    ready: /Stop with Ctrl-C/,
    fault: /Error/,
    onLog: () => undefined,
    temporaryDir: undefined,
  });
  return { url: `http://localhost:${port}`, stop };
}
