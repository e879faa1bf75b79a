import type { Fixture } from '../runner/fixture.js';
import { median } from '../runner/measurement.js';
import type { NodeServer } from '../servers/process.js';

const STEPS = 20;
/** The medians of the first and the last of this many steps are compared. */
const COMPARED_STEPS = 5;

/**
 * Runs a load in equal steps and reads the resident memory after each. The caller warms the server up.
 *
 * @param step - runs one step, its share of the number of steps that it is given.
 * @returns the medians of the first and of the last readings, in MiB.
 */
export async function measureGrowth(
  { progress }: Fixture,
  server: NodeServer,
  step: (steps: number) => Promise<unknown>,
): Promise<{ readonly early: number; readonly late: number }> {
  const resident: number[] = [];
  for (let count = 1; count <= STEPS; count += 1) {
    await step(STEPS);
    resident.push(await server.residentMib());
    progress(`step ${count} of ${STEPS}: ${resident.at(-1)?.toFixed(1)} MiB`);
  }
  return { early: median(resident.slice(0, COMPARED_STEPS)), late: median(resident.slice(-COMPARED_STEPS)) };
}
