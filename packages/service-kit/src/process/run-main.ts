// An entry of its own, which loads next to nothing: a program handles signals before it loads the rest of itself.
import { type ExitSignals, handleExitSignals } from './exit-signals.js';

export type { ExitSignals };

/**
 * Runs a program's main function, which imports the program: loading that takes a second, and ten on a busy machine. A
 * known fault is told in plain lines, without a stack.
 *
 * @param main - gets what ends the process; once it has a shutdown it gives that to `endWith`.
 */
export async function runMain(main: (signals: ExitSignals) => Promise<void>): Promise<void> {
  const signals = handleExitSignals();
  try {
    await main(signals);
  } catch (error) {
    // The shutdown closes what the start still needs, and ends the process.
    if (signals.isStopping) return;
    const { describeKnownFault, toExitCode } = await import('./known-faults.js');
    const text =
      error instanceof Error ? (describeKnownFault(error) ?? error.stack ?? error.message) : String(error);
    process.stderr.write(`${text}\n`);
    process.exit(toExitCode(error));
  }
}
