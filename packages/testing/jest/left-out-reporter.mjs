import { describeLeftOut, readMissing } from '@platform/testing';

/**
 * Collects which tests were left out of a run, and how to include them. The global teardown prints it: Jest's own
 * summary comes after every other reporter, and these have to be the last lines.
 */
export default class LeftOutReporter {
  /** @param {{others: {title?: string, path: string, reason: string}[]}} options files that the configuration leaves out */
  constructor({ nonFlagArgs }, { others }) {
    // What is left out everywhere has a title instead of a folder.
    const isAskedFor = ({ title, path }) =>
      title !== undefined || nonFlagArgs.length === 0 || nonFlagArgs.some((part) => path.includes(part));
    this.others = others.filter(isAskedFor).map(({ title, path, reason }) => `${title ?? path}: ${reason}.`);
  }

  onRunComplete(_contexts, { testResults }) {
    const outcomes = testResults.flatMap((file) => file.testResults);
    globalThis.leftOut = describeLeftOut(outcomes, readMissing(), this.others);
  }
}
