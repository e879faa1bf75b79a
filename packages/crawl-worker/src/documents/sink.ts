import type { DocumentLine } from './contract.js';

/** A line of the contract, as it is sent. */
export interface SerialisedLine {
  readonly line: DocumentLine;
  readonly json: string;
  readonly bytes: number;
}

/** Where documents go. */
export interface Sink {
  /**
   * Resolves once the lines are stored. Storing them twice does no harm.
   *
   * @throws Error when the sink refuses them, or could not be reached for too long.
   */
  write(lines: readonly SerialisedLine[], signal: AbortSignal): Promise<void>;
}
