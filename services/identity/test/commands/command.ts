import { main } from '../../src/commands.js';

/** How a command ended, and what it printed. */
interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command in this worker with exactly this environment: a separate process would take most of a second to load
 * the same modules. Commands run one after the other, because they share the worker's `process`.
 *
 * @throws what the command line describes in one line: a wrong environment, or a database that is not migrated.
 */
export async function runCommand(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<Outcome> {
  const { argv, env: workerEnv, exitCode } = process;
  let stdout = '';
  let stderr = '';
  const spies = [
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      stdout += String(text);
      return true;
    }),
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      stderr += String(text);
      return true;
    }),
  ];
  process.argv = [...argv.slice(0, 2), ...args];
  process.env = env;
  process.exitCode = 0;
  try {
    await main();
    return { code: process.exitCode, stdout, stderr };
  } finally {
    Object.assign(process, { argv, env: workerEnv, exitCode });
    for (const spy of spies) spy.mockRestore();
  }
}
