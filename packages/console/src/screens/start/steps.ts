import type { start } from '#text/start';
import { crawl, identity, mail, unwrap } from '../../api/client.ts';

export interface Step {
  readonly id: keyof typeof start.steps;
  readonly path: string;
  readonly isForAdmins?: boolean;
  isDone(signal: AbortSignal): Promise<boolean>;
}

/** The templates that the platform mails by itself, such as that somebody has signed in with a new device. */
const NOTICES = [
  'suspiciousLoginAttempt',
  'smtpServerChanged',
  'passwordChanged',
  'tokenAlert',
  'tokenExpiring',
  'crawlFailures',
  'connectedService',
  'smtpTest',
];

/** Lists the newest tokens of each state: what was done with a token stays done when it is revoked. */
async function listTokens(signal: AbortSignal) {
  const lists = (['active', 'revoked', 'expired'] as const).map((state) =>
    unwrap(identity.GET('/api/v1/personal-access-tokens', { params: { query: { state } }, signal })),
  );
  return (await Promise.all(lists)).flatMap(({ tokens }) => tokens);
}

/** Agents that signed in with the browser have no token in the list. */
async function hasCalled(signal: AbortSignal): Promise<boolean> {
  const params = { query: { limit: 1 } };
  return (await unwrap(identity.GET('/api/v1/agents/calls', { params, signal }))).data.length > 0;
}

async function hasEvent(signal: AbortSignal): Promise<boolean> {
  const params = { query: { limit: 1 } };
  return (await unwrap(crawl.GET('/api/v1/crawlingManager/events', { params, signal }))).data.length > 0;
}

/** The steps that this browser has seen done: what proved one, such as a schedule, may be removed later. */
const toKey = (memberId: string): string => `console.start.${memberId}`;

export function wasDone(memberId: string, id: Step['id']): boolean {
  return (localStorage.getItem(toKey(memberId)) ?? '').split(' ').includes(id);
}

export function rememberDone(memberId: string, id: Step['id']): void {
  if (wasDone(memberId, id)) return;
  localStorage.setItem(toKey(memberId), `${localStorage.getItem(toKey(memberId)) ?? ''} ${id}`.trim());
}

export const steps: readonly Step[] = [
  {
    id: 'token',
    path: '/account/tokens',
    isDone: async (signal) => (await listTokens(signal)).length > 0,
  },
  {
    id: 'call',
    path: '/connect',
    isDone: async (signal) =>
      (await listTokens(signal)).some(({ lastUsedAt }) => lastUsedAt !== null) || hasCalled(signal),
  },
  {
    id: 'crawl',
    path: '/crawls',
    isForAdmins: true,
    isDone: async (signal) =>
      (await unwrap(crawl.GET('/api/v1/crawlingManager/schedule/all', { signal }))).data.length > 0 ||
      hasEvent(signal),
  },
  {
    id: 'event',
    path: '/crawls/sync-events',
    isForAdmins: true,
    isDone: hasEvent,
  },
  {
    id: 'mail',
    path: '/organisation/members',
    isForAdmins: true,
    async isDone(signal) {
      const params = { query: { limit: 100, state: 'sent' as const } };
      const { data } = await unwrap(mail.GET('/api/v1/mail/records', { params, signal }));
      return data.some(({ emailTemplateType }) => !NOTICES.includes(emailTemplateType));
    },
  },
];
