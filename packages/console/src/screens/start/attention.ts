import { start } from '#text/start';
import type { IdentitySchemas } from '@platform/clients/types';
import { crawl, identity, mail, unwrap } from '../../api/client.ts';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';

const t = start.attention;
const DAY_MS = 86_400_000;
const SOON_DAYS = 14;
const RECENT_DAYS = 7;
const SHOWN = 5;

/** Something that waits for a person, and where it is dealt with. */
export interface Concern {
  readonly id: string;
  readonly tone: 'bad' | 'notice';
  readonly title: string;
  readonly detail: string;
  readonly to: string;
}

interface Reader {
  readonly id: string;
  readonly isAdmin: boolean;
}

interface Source {
  readonly id: keyof typeof t.sources;
  readonly isForAdmins: boolean;
  load(signal: AbortSignal, reader: Reader): Promise<readonly Concern[]>;
}

/** One's own, or that of somebody in the organisation, which names its owner. */
type ExpiringToken = Pick<OwnedToken, 'id' | 'name' | 'expiresAt'> &
  Partial<Pick<OwnedToken, 'userId' | 'ownerFullName'>>;
type OwnedToken = IdentitySchemas['schemas']['OwnedPersonalAccessToken'];

const fromNow = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

/** What may need somebody, each read by itself: one service that is unavailable hides only its own. */
export const sources: readonly Source[] = [
  {
    id: 'crawls',
    isForAdmins: true,
    async load(signal) {
      const { data } = await unwrap(crawl.GET('/api/v1/crawlingManager/schedule/all', { signal }));
      return data
        .filter(({ consecutiveFailures, overdueSince }) => consecutiveFailures > 0 || overdueSince !== null)
        .map(({ data: { connector }, instance, displayName, lastFailure, overdueSince }) => ({
          id: toConnectorKey({ connector, instance }),
          tone: 'bad' as const,
          title: (overdueSince === null ? t.crawlFails : t.crawlOverdue)(
            getConnectorName(toConnectorKey({ connector, instance }), displayName),
          ),
          detail: (overdueSince === null && lastFailure) || '',
          to: `/crawls/connectors/${toConnectorKey({ connector, instance })}`,
        }));
    },
  },
  {
    id: 'mails',
    isForAdmins: true,
    async load(signal) {
      const query = { state: 'failed' as const, since: fromNow(-RECENT_DAYS), limit: SHOWN };
      const { data } = await unwrap(mail.GET('/api/v1/mail/records', { params: { query }, signal }));
      return data.map(({ id, subject, to, failure }) => ({
        id,
        tone: 'bad',
        title: t.mailFailed(subject, to.join(', ')),
        detail: failure?.message ?? '',
        to: `/mails/${id}`,
      }));
    },
  },
  {
    id: 'leaks',
    isForAdmins: true,
    async load(signal) {
      const query = { action: 'token.leaked', from: fromNow(-RECENT_DAYS), limit: SHOWN };
      const { data, names } = await unwrap(identity.GET('/api/v1/audit', { params: { query }, signal }));
      return data.map(({ id, subjectId }) => ({
        id,
        tone: 'bad',
        title: t.tokenLeaked((subjectId !== null && names[subjectId]?.name) || ''),
        detail: t.tokenLeakedHint,
        to: '/organisation/audit?action=token.leaked',
      }));
    },
  },
  {
    id: 'tools',
    isForAdmins: true,
    async load(signal) {
      const { data } = await unwrap(identity.GET('/api/v1/mcp-servers', { signal }));
      return data
        .filter(({ isEnabled, tools }) => isEnabled && tools.waiting > 0)
        .map(({ id, name, tools }) => ({
          id,
          tone: 'notice',
          title: t.toolsWait(tools.waiting, name),
          detail: t.toolsWaitHint,
          to: `/organisation/mcp-servers/${id}`,
        }));
    },
  },
  {
    id: 'tokens',
    isForAdmins: false,
    async load(signal, { id: myId, isAdmin }) {
      const params = {
        query: { state: 'active' as const, expiresBefore: fromNow(SOON_DAYS), limit: SHOWN },
      };
      const tokens: readonly ExpiringToken[] = isAdmin
        ? (await unwrap(identity.GET('/api/v1/personal-access-tokens/admin', { params, signal }))).data
        : (await unwrap(identity.GET('/api/v1/personal-access-tokens', { params, signal }))).tokens;
      return tokens.map(({ id, name, expiresAt, userId = myId, ownerFullName = '' }) => ({
        id,
        tone: 'notice',
        title: t.tokenExpires(name, userId === myId ? '' : ownerFullName, expiresAt ?? ''),
        detail: t.tokenExpiresHint,
        to:
          userId === myId
            ? `/account/tokens/${id}`
            : `/organisation/tokens?${new URLSearchParams({ attention: 'expiring', q: name })}`,
      }));
    },
  },
  {
    id: 'invitations',
    isForAdmins: true,
    async load(signal) {
      const query = { limit: SHOWN, state: 'invited' as const };
      const { data } = await unwrap(identity.GET('/api/v1/users', { params: { query }, signal }));
      return data.map(({ id, fullName, email }) => ({
        id,
        tone: 'notice',
        title: t.invitationOpen(fullName),
        detail: email,
        to: `/organisation/members?${new URLSearchParams({ q: email })}`,
      }));
    },
  },
];
