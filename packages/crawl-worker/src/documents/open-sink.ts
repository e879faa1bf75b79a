import { fileURLToPath } from 'node:url';
import { createFilesSink } from './files-sink.js';
import { createHttpSink } from './http-sink.js';
import type { Sink } from './sink.js';

/**
 * Opens the sink at an address: `http(s)://…` is an ingest endpoint, everything else a folder.
 *
 * @param token - the bearer token for the ingest endpoint.
 */
export function openSink(address: string, token: string): Sink {
  if (/^https?:\/\//i.test(address)) return createHttpSink({ url: address, token });
  return createFilesSink(address.startsWith('file:') ? fileURLToPath(address) : address);
}
