// `npm start`: handles --help and invalid options at once, prepares the clone, then runs the launcher.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { runMain, setUp, SetupError } from '../config/setup.mjs';
import { HELP, OptionsError, parseOptions } from './options.mjs';

/** @returns the options; undefined when there is nothing more to do. */
function readOptions() {
  try {
    const options = parseOptions(process.argv.slice(2), process.env);
    if (options !== 'help') return options;
    process.stdout.write(HELP);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
  return undefined;
}

/** The ports are checked again when the servers listen; checking them here can save a minute of installing. */
async function checkPorts({ port, host, smtpCatcherPort, inboxPort }) {
  await checkPort('The gateway', 'port', port, host);
  await checkPort('The SMTP catcher', 'smtp-catcher-port', smtpCatcherPort, '127.0.0.1');
  await checkPort('The inbox', 'inbox-port', inboxPort, '127.0.0.1');
}

async function checkPort(what, flag, port, host) {
  const probe = createServer().listen(port, host);
  try {
    await once(probe, 'listening');
  } catch (error) {
    if (error.code !== 'EADDRINUSE')
      throw new SetupError(`${what} can't listen on ${host}:${port}: ${error.message}`);
    throw new SetupError(
      `Port ${port} is taken by another program. Choose another: npm start -- --${flag} ${port + 1}`,
    );
  } finally {
    probe.close();
  }
}

await runMain(async () => {
  const options = readOptions();
  if (!options) return;
  await checkPorts(options);
  await setUp();
  const { main } = await import('./dist/main.js');
  await main(options);
});
