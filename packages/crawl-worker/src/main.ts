#!/usr/bin/env node
import { HELP, runAirbyte } from './airbyte/command.js';

// Whoever reads the output, such as `head`, may have had enough.
process.stdout.on('error', () => process.exit(0));

const [command, ...args] = process.argv.slice(2);
if (command === 'airbyte') {
  await runAirbyte(args, process.env, (text) => void process.stdout.write(text)).then(
    (code) => (process.exitCode = code),
    (error: Error) => {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    },
  );
} else {
  const isHelp = command === '--help' || command === 'help';
  (isHelp ? process.stdout : process.stderr).write(HELP);
  process.exitCode = isHelp ? 0 : 1;
}
