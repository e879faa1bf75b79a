import type { AdminSession } from '../admin-session.js';
import { assertOk, changeState, readState } from './state.js';

/** The mount's name, which is the first part of its tools' names. */
export const MOUNT_NAME = 'knowledge';
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

/**
 * Creates the mount, or points the existing one to `url`. A mount that an administrator has disabled stays so.
 *
 * @returns its id. @throws Error.
 */
async function createOrMove(
  { call }: AdminSession,
  dataDir: string,
  url: string,
  connectors: readonly string[],
): Promise<string> {
  const { mountId: known, isMountDisabled } = await readState(dataDir);
  if (known !== undefined) {
    const body = { url, connectors, ...(isMountDisabled && { isEnabled: true }) };
    const moved = await call('PATCH', `${SERVERS}/${known}`, body);
    if (moved.status !== 404) {
      await assertOk(moved);
      await changeState(dataDir, { isMountDisabled: false });
      return known;
    }
  }
  // The search shows each person only what is theirs.
  const credential = { kind: 'assertion', claims: ['email', 'groups'] };
  const created = await assertOk(
    await call('POST', SERVERS, { name: MOUNT_NAME, url, connectors, credential, isEnabled: true }),
  );
  const { server } = (await created.json()) as { server: { id: string } };
  await changeState(dataDir, { mountId: server.id, isMountDisabled: false });
  return server.id;
}

/**
 * Mounts the demo server and enables its tools, as an administrator would do by hand. A tool that the administrator
 * has mapped differently since then is not changed.
 *
 * @throws Error with the platform's response.
 */
// oxfmt-ignore
export async function mountDemoServer(session: AdminSession, dataDir: string, url: string, connectors: readonly string[]): Promise<void> {
  const { call } = session;
  const id = await createOrMove(session, dataDir, url, connectors);
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
  const { mountId: id } = await readState(dataDir);
  if (id === undefined) return;
  const found = await call('GET', `${SERVERS}/${id}`);
  if (!found.ok) return;
  const { server } = (await found.json()) as { server: { isEnabled: boolean } };
  if (!server.isEnabled) return;
  await assertOk(await call('PATCH', `${SERVERS}/${id}`, { isEnabled: false }));
  await changeState(dataDir, { isMountDisabled: true });
}
