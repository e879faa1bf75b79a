import { start } from '#text/start';
import type { IdentitySchemas } from '@platform/clients/types';
import { crawl, identity, mail, unwrap } from '../../api/client.ts';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';
import type { ListTotal } from '../../ui/merge-first-page.ts';

const t = start.attention;
const DAY_MS = 86_400_000;
const SOON_DAYS = 14;
const RECENT_DAYS = 7;
const SHOWN = 5;
const MAX_PAGE = 100;
const LEAKS = '/activity/audit?action=token.leaked';

/** Something that waits for a person, and where it is dealt with. */
export interface Concern {
  readonly id: string;
  readonly tone: 'bad' | 'notice';
  readonly state: keyof typeof t.states;
  readonly title: string;
  readonly detail: string;
  readonly to: string;
}

interface Reader {
  readonly id: string;
  readonly isAdmin: boolean;
}

/** The first of what a source knows, how many there are, and where all of them are listed. */
export interface Concerns {
  readonly first: readonly Concern[];
  readonly total: ListTotal;
  readonly to: string;
}

interface Source {
  readonly id: keyof typeof t.sources;
  isFor(reader: Reader): boolean;
  load(signal: AbortSignal, reader: Reader): Promise<Concerns>;
}

const isForAdmins = ({ isAdmin }: Reader): boolean => isAdmin;

/** Takes the first of what was read as a whole. */
const toFirst = (all: readonly Concern[], to: string): Concerns => ({
  first: all.slice(0, SHOWN),
  total: { total: all.length },
  to,
});

/** Takes a page of a list with the number of all that match. */
const toConcerns = (first: readonly Concern[], pagination: ListTotal | undefined, to: string): Concerns => ({
  first,
  total: pagination ?? { total: first.length },
  to,
});

/** One's own, or that of somebody in the organisation, which names its owner. */
type ExpiringToken = Pick<OwnedToken, 'id' | 'name' | 'expiresAt'> &
  Partial<Pick<OwnedToken, 'userId' | 'ownerFullName'>>;
type OwnedToken = IdentitySchemas['schemas']['OwnedPersonalAccessToken'];

const fromNow = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

/** The sources of what may need attention, each read by itself: one service that is unavailable hides only its own. */
export const sources: readonly Source[] = [
  {
    id: 'crawls',
    isFor: isForAdmins,
    async load(signal) {
      const { data } = await unwrap(crawl.GET('/api/v1/crawlingManager/schedule/all', { signal }));
      const failing = data
        .filter(({ consecutiveFailures, overdueSince }) => consecutiveFailures > 0 || overdueSince !== null)
        .map(({ data: { connector }, instance, displayName, lastFailure, overdueSince }) => ({
          id: toConnectorKey({ connector, instance }),
          tone: 'bad' as const,
          state: overdueSince === null ? ('failed' as const) : ('overdue' as const),
          title: (overdueSince === null ? t.crawlFails : t.crawlOverdue)(
            getConnectorName(toConnectorKey({ connector, instance }), displayName),
          ),
          detail: (overdueSince === null && lastFailure) || '',
          to: `/crawls/connectors/${toConnectorKey({ connector, instance })}`,
        }));
      return toFirst(failing, '/crawls');
    },
  },
  {
    id: 'mails',
    isFor: isForAdmins,
    async load(signal) {
      const query = { state: 'failed' as const, since: fromNow(-RECENT_DAYS), limit: SHOWN };
      const page = await unwrap(mail.GET('/api/v1/mail/records', { params: { query }, signal }));
      const failed = page.data.map(({ id, subject, to, failure }) => ({
        id,
        tone: 'bad' as const,
        state: 'failed' as const,
        title: t.mailFailed(subject, to.join(', ')),
        detail: failure?.message ?? '',
        to: `/mails/${id}`,
      }));
      return toConcerns(failed, page.pagination, '/mails?state=failed');
    },
  },
  {
    id: 'leaks',
    isFor: isForAdmins,
    async load(signal) {
      const query = { action: 'token.leaked', from: fromNow(-RECENT_DAYS), limit: SHOWN };
      const { data, names, pagination } = await unwrap(
        identity.GET('/api/v1/audit', { params: { query }, signal }),
      );
      const leaked = data.map(({ id, subjectId }) => ({
        id,
        tone: 'bad' as const,
        state: 'leaked' as const,
        title: t.tokenLeaked((subjectId !== null && names[subjectId]?.name) || ''),
        detail: t.tokenLeakedHint,
        to: LEAKS,
      }));
      return toConcerns(leaked, pagination, LEAKS);
    },
  },
  {
    id: 'leaks',
    isFor: ({ isAdmin }) => !isAdmin,
    async load(signal) {
      const query = { state: 'revoked' as const, limit: MAX_PAGE };
      const { tokens } = await unwrap(
        identity.GET('/api/v1/personal-access-tokens', { params: { query }, signal }),
      );
      const since = fromNow(-RECENT_DAYS);
      const leaked = tokens
        .filter(({ revokedAt, revokedReason }) => revokedReason === 'leaked' && (revokedAt ?? '') > since)
        .map(({ id, name }) => ({
          id,
          tone: 'bad' as const,
          state: 'leaked' as const,
          title: t.tokenLeaked(name),
          detail: t.tokenLeakedHint,
          to: `/account/tokens/${id}`,
        }));
      return toFirst(leaked, '/account/tokens?state=revoked');
    },
  },
  {
    id: 'tools',
    isFor: isForAdmins,
    async load(signal) {
      const query = { limit: MAX_PAGE };
      const { data } = await unwrap(identity.GET('/api/v1/mcp-servers', { params: { query }, signal }));
      const waiting = data
        .filter(({ isEnabled, tools }) => isEnabled && tools.waiting > 0)
        .map(({ id, name, tools }) => ({
          id,
          tone: 'notice' as const,
          state: 'waits' as const,
          title: t.toolsWait(tools.waiting, name),
          detail: t.toolsWaitHint,
          to: `/organisation/mcp-servers/${id}`,
        }));
      return toFirst(waiting, '/organisation/mcp-servers');
    },
  },
  {
    id: 'tokens',
    isFor: () => true,
    async load(signal, { id: myId, isAdmin }) {
      const params = {
        query: { state: 'active' as const, expiresBefore: fromNow(SOON_DAYS), limit: SHOWN },
      };
      const page: { readonly data: readonly ExpiringToken[]; readonly pagination?: ListTotal } = isAdmin
        ? await unwrap(identity.GET('/api/v1/personal-access-tokens/admin', { params, signal }))
        : await unwrap(identity.GET('/api/v1/personal-access-tokens', { params, signal })).then(
            ({ tokens, ...own }) => ({ ...own, data: tokens }),
          );
      const expiring = page.data.map(({ id, name, expiresAt, userId = myId, ownerFullName = '' }) => ({
        id,
        tone: 'notice' as const,
        state: 'expires' as const,
        title: t.tokenExpires(name, userId === myId ? '' : ownerFullName, expiresAt ?? ''),
        detail: t.tokenExpiresHint,
        to:
          userId === myId
            ? `/account/tokens/${id}`
            : `/organisation/tokens?${new URLSearchParams({ attention: 'expiring', q: name })}`,
      }));
      return toConcerns(
        expiring,
        page.pagination,
        isAdmin ? '/organisation/tokens?attention=expiring' : '/account/tokens?sort=expiry',
      );
    },
  },
  {
    id: 'invitations',
    isFor: isForAdmins,
    async load(signal) {
      const query = { limit: SHOWN, state: 'invited' as const };
      const { data, pagination } = await unwrap(identity.GET('/api/v1/users', { params: { query }, signal }));
      const invited = data.map(({ id, fullName, email }) => ({
        id,
        tone: 'notice' as const,
        state: 'invited' as const,
        title: t.invitationOpen(fullName),
        detail: email,
        to: `/organisation/members?${new URLSearchParams({ q: email })}`,
      }));
      return toConcerns(invited, pagination, '/organisation/members?show=invited');
    },
  },
];
