import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The demo's objects in the organisation, so that nothing that a user has made is ever touched. The file is for its
 * owner only: it holds the tokens of the demo's programs.
 */
export interface DemoState {
  readonly mountId?: string;
  /** Whether a start without the demo has disabled the mount. */
  readonly isMountDisabled?: boolean;
  /** The service account of the demo's programs. */
  readonly accountId?: string;
  /** Its tokens: for the events, and for the worker. */
  readonly readToken?: string;
  readonly workToken?: string;
  /** Of the second member. */
  readonly memberPassword?: string;
  /** The connectors that the demo has scheduled, with the time of that, which changes when a user replaces a schedule. */
  readonly schedules?: Readonly<Record<string, string>>;
  /** The scheduled connectors that it has paused, as no worker claims them. */
  readonly paused?: readonly string[];
}

const FILE = 'demo.json';

export const readState = async (dataDir: string): Promise<DemoState> =>
  readFile(join(dataDir, FILE), 'utf8').then(
    (text) => JSON.parse(text) as DemoState,
    () => ({}),
  );

export async function changeState(dataDir: string, change: DemoState): Promise<void> {
  const state = { ...(await readState(dataDir)), ...change };
  await writeFile(join(dataDir, FILE), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

/** @throws Error with the platform's response. */
export async function assertOk(response: Response): Promise<Response> {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response;
}
