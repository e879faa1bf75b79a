import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type AdminSession, withAdminSession } from '../admin-session.js';
import { MOUNT_NAME } from './mount.js';
import { assertOk, changeState, readState } from './state.js';

/*
 * Shows that an answer respects the person: docs/.access.yaml leaves a page to a group, in which the administrator is, and
 * a second member is not. Both are asked the same question.
 */

const GROUP = 'Maintainers';
const EMAIL = 'sam@example.com';
const PAGE = 'releasing.md';
const QUESTION = 'how do I make a release';
const POLL_MS = 1_000;
/** The first crawl takes less than a minute. */
const GIVE_UP_MS = 180_000;

/** A second member, and the group that this member is not in. */
export interface DemoPeople {
  readonly email: string;
  readonly password: string;
  readonly group: string;
}

/**
 * Creates the member and the group at the first start with the demo. What an administrator has changed about them since then,
 * or has made before, stays as it is.
 *
 * @returns undefined when they are not the demo's. @throws Error with the platform's response.
 */
export async function ensurePeople(session: AdminSession, dataDir: string): Promise<DemoPeople | undefined> {
  const { call, userId } = session;
  const { memberPassword } = await readState(dataDir);
  if (memberPassword !== undefined) return { email: EMAIL, password: memberPassword, group: GROUP };
  const password = randomBytes(12).toString('base64url');
  const member = { email: EMAIL, fullName: 'Sam Demo', role: 'member', password };
  const createdGroup = await call('POST', '/api/v1/groups', { name: GROUP });
  if (createdGroup.status === 409) return undefined;
  const { group } = (await (await assertOk(createdGroup)).json()) as { group: { id: string } };
  await assertOk(await call('PUT', `/api/v1/groups/${group.id}/members/${userId}`));
  const createdMember = await call('POST', '/api/v1/users', member);
  if (createdMember.status === 409) return undefined;
  await assertOk(createdMember);
  await changeState(dataDir, { memberPassword: password });
  return { email: EMAIL, password, group: GROUP };
}

/** Asks the question as the member with the session. @returns whether the page is among the answers. */
async function findsPage({ call }: AdminSession): Promise<boolean> {
  const params = { name: `${MOUNT_NAME}__search`, arguments: { query: QUESTION } };
  const response = await call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return response.ok && (await response.text()).includes(`(${PAGE})`);
}

/**
 * Asks as both people, once the page has been crawled.
 *
 * @returns what differs, in a line; undefined when one of them cannot log in with this password any more, or the page does
 *   not come.
 */
export async function comparePeople(
  urls: { readonly identityUrl: string; readonly crawlUrl: string },
  admin: { readonly email: string; readonly password: string },
  { group, ...other }: DemoPeople,
  signal: AbortSignal,
): Promise<string | undefined> {
  const until = performance.now() + GIVE_UP_MS;
  const compared = await withAdminSession(urls, admin, (ofAdmin) =>
    withAdminSession(urls, other, async (ofOther) => {
      while (!(await findsPage(ofAdmin))) {
        if (signal.aborted || performance.now() > until) return undefined;
        await delay(POLL_MS, undefined, { signal });
      }
      return !(await findsPage(ofOther));
    }),
  );
  if (compared !== true) return undefined;
  return `One question, two people: “${QUESTION}” finds ${PAGE} for ${admin.email}, who is in the group ${group}, and not for ${other.email}.`;
}
