import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig, url } from '../config/config.js';
import { VERSION } from '../version.js';
import type { Command } from './define-commands.js';

const DEADLINE_MS = 5 * 60_000;
const REQUEST_TIMEOUT_MS = 2_000;
const RETRY_MS = 1_000;
const PAUSE_MS = 100;
/** So many that each of the replicas behind the address is likely to be among them. */
const RESPONSES = 10;

const toNumbers = (version: string): number[] =>
  (/^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);

/** @returns whether the first version is older than the second; one that cannot be read is not. */
export function isOlderVersion(version: string, than: string): boolean {
  const [actual, wanted] = [toNumbers(version), toNumbers(than)];
  const index = wanted.findIndex((number, position) => number !== actual[position]);
  return index >= 0 && (actual[index] ?? Infinity) < (wanted[index] ?? 0);
}

/** Each request opens a new connection, so that another replica may answer it. */
const readVersion = (identityUrl: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = get(
      `${identityUrl}/health`,
      { agent: false, timeout: REQUEST_TIMEOUT_MS },
      (response) => {
        text(response)
          .then((body) => resolve(String((JSON.parse(body) as { version?: unknown }).version)))
          .catch(reject);
      },
    );
    request.on('timeout', () => request.destroy(new Error('no response within 2 s'))).on('error', reject);
  });

/**
 * Waits until ten responses in a row come from an identity that is not older than this program, or for five minutes. An
 * upgrade replaces identity first, since an older one may lack what this version requires of it.
 */
export const awaitIdentity: Command = async () => {
  const { IDENTITY_URL: identityUrl } = loadConfig(process.env, {
    IDENTITY_URL: url(['http:', 'https:'], 'http://identity:8080'),
  });
  const deadline = performance.now() + DEADLINE_MS;
  let reported: string | undefined;
  for (let responses = 0; responses < RESPONSES;) {
    let problem: string | undefined;
    try {
      const version = await readVersion(identityUrl);
      if (isOlderVersion(version, VERSION)) problem = `identity is still ${version}, and this is ${VERSION}`;
    } catch (error) {
      problem = `identity does not respond: ${(error as Error).message}`;
    }
    if (problem !== undefined && problem !== reported) process.stderr.write(`${problem}\n`);
    reported = problem ?? reported;
    responses = problem === undefined ? responses + 1 : 0;
    if (performance.now() > deadline) {
      process.stderr.write('starting nevertheless, after five minutes\n');
      return;
    }
    await delay(problem === undefined ? PAUSE_MS : RETRY_MS);
  }
};
