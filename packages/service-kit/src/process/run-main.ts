// A separate entry point that loads almost nothing, so that a program handles signals before it loads the rest.
import { type ExitSignals, handleExitSignals } from './exit-signals.js';

export type { ExitSignals };

/**
 * Runs a program's main function, which imports the program: loading takes a second, and ten on a busy machine. Known
 * faults are printed in plain lines, without a stack.
 *
 * @param main - receives the exit signals, and passes its shutdown to `endWith` as soon as it has one.
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
