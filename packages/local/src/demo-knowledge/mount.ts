import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdminSession } from '../admin-session.js';

/** The mount's name, which is the first part of its tools' names. */
export const MOUNT_NAME = 'knowledge';
/** The file that stores the id of the mount, so that a server that a user has mounted is never touched. */
const ID_FILE = 'demo-knowledge-mount';
const SERVERS = '/api/v1/mcp-servers';
const SCOPES: Readonly<Record<string, string>> = {
  search: 'kb:read',
  read_page: 'kb:read',
  add_note: 'semantic:write',
};

interface ListedTool {
  readonly name: string;
  readonly state: string;
  readonly hash: string | null;
}

const readMountId = (dataDir: string): Promise<string | undefined> =>
  readFile(join(dataDir, ID_FILE), 'utf8').then(
    (id) => id.trim(),
    () => undefined,
  );

async function assertOk(response: Response): Promise<Response> {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response;
}

/** Creates the mount, or points the existing one to `url`. @returns its id. @throws Error. */
async function createOrMove({ call }: AdminSession, dataDir: string, url: string): Promise<string> {
  const fields = { url, credential: { kind: 'assertion' }, isEnabled: true };
  const known = await readMountId(dataDir);
  if (known !== undefined) {
    const moved = await call('PATCH', `${SERVERS}/${known}`, fields);
    if (moved.status !== 404) {
      await assertOk(moved);
      return known;
    }
  }
  const created = await assertOk(await call('POST', SERVERS, { name: MOUNT_NAME, ...fields }));
  const { server } = (await created.json()) as { server: { id: string } };
  await writeFile(join(dataDir, ID_FILE), server.id);
  return server.id;
}

/**
 * Mounts the demo server and enables its tools, as an administrator would do by hand. A tool that the administrator
 * has mapped differently since then is not changed.
 *
 * @throws Error with the platform's response.
 */
// prettier-ignore
export async function mountDemoServer(session: AdminSession, dataDir: string, url: string): Promise<void> {
  const { call } = session;
  const id = await createOrMove(session, dataDir, url);
  await assertOk(await call('POST', `${SERVERS}/${id}/refresh`));
  const listed = await assertOk(await call('GET', `${SERVERS}/${id}/tools?limit=100`));
  const { data } = (await listed.json()) as { data: ListedTool[] };
  // The definitions belong to this version of the platform, so they need no review.
  const tools = data
    .filter(({ name, state }) => name in SCOPES && (state === 'new' || state === 'changed'))
    .map(({ name, state, hash }) => ({ name, approve: hash, ...(state === 'new' && { scope: SCOPES[name] }) }));
  if (tools.length > 0) await assertOk(await call('PATCH', `${SERVERS}/${id}/tools`, { tools }));
}

/** Disables the mount of an earlier start, whose server is not running now. */
export async function disableDemoMount({ call }: AdminSession, dataDir: string): Promise<void> {
  const id = await readMountId(dataDir);
  if (id === undefined) return;
  const found = await call('GET', `${SERVERS}/${id}`);
  if (found.status === 404) await rm(join(dataDir, ID_FILE), { force: true });
  if (!found.ok) return;
  const { server } = (await found.json()) as { server: { isEnabled: boolean } };
  if (server.isEnabled) await call('PATCH', `${SERVERS}/${id}`, { isEnabled: false });
}
