import { fileURLToPath } from 'node:url';
import { createFilesSink } from './files-sink.js';
import { createHttpSink } from './http-sink.js';
import type { Sink } from './sink.js';

/**
 * Opens the sink at an address: `http(s)://…` is an ingest endpoint, everything else a folder.
 *
 * @param platform - its token is sent to its own origin alone: whoever else gets it could claim runs.
 * @param sinkToken - the token for the ingest endpoint.
 * @throws Error without a token that the ingest endpoint may have.
 */
export function openSink(
  address: string,
  platform: { readonly url: string; readonly token: string },
  sinkToken: string | undefined,
): Sink {
  if (!/^https?:\/\//i.test(address))
    return createFilesSink(address.startsWith('file:') ? fileURLToPath(address) : address);
  if (sinkToken) return createHttpSink({ url: address, token: sinkToken });
  const { origin } = new URL(address);
  if (origin !== new URL(platform.url).origin)
    throw new Error(
      `SINK_TOKEN is required: ${origin} is not the platform, so it does not get PLATFORM_TOKEN. If it may have the same token, set SINK_TOKEN to it`,
    );
  return createHttpSink({ url: address, token: platform.token });
}
