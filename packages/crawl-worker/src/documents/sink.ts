import { fileURLToPath } from 'node:url';
import type { DocumentLine } from './contract.js';
import { createFilesSink } from './files-sink.js';
import { createHttpSink } from './http-sink.js';

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

/**
 * Opens the sink at an address: `http(s)://…` is an ingest endpoint, everything else a folder.
 *
 * @param token - the bearer token for the ingest endpoint.
 */
export function openSink(address: string, token: string): Sink {
  if (/^https?:\/\//i.test(address)) return createHttpSink({ url: address, token });
  return createFilesSink(address.startsWith('file:') ? fileURLToPath(address) : address);
}
