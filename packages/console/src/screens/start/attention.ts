import { start } from '#text/start';
import type { CrawlSchemas, IdentitySchemas } from '@platform/clients/types';
import { crawl, identity, mail, unwrap } from '../../api/client.ts';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';
import type { ListTotal } from '../../ui/merge-first-page.ts';
import { formatAge } from '../../ui/time.tsx';

const t = start.attention;
const DAY_MS = 86_400_000;
const SOON_DAYS = 14;
const RECENT_DAYS = 7;
const MAX_PAGE = 100;
const LEAKS = '/activity/audit?action=token.leaked';

/** A cause that needs a person, however many things it concerns, and where it is dealt with. */
export interface Concern {
  readonly id: string;
  readonly tone: 'bad' | 'notice';
  readonly state: keyof typeof t.states;
  readonly title: string;
  readonly detail: string;
  readonly action: keyof typeof t.actions;
  readonly to: string;
}

interface Reader {
  readonly id: string;
  readonly isAdmin: boolean;
}

interface Source {
  readonly id: keyof typeof t.sources;
  isFor(reader: Reader): boolean;
  load(signal: AbortSignal, reader: Reader): Promise<readonly Concern[]>;
}

const isForAdmins = ({ isAdmin }: Reader): boolean => isAdmin;

/** Puts together what has one cause. */
function groupByCause<Item>(
  items: readonly Item[],
  getCause: (item: Item) => string,
): readonly { readonly cause: string; readonly of: readonly Item[] }[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const cause = getCause(item);
    groups.set(cause, [...(groups.get(cause) ?? []), item]);
  }
  return [...groups].map(([cause, of]) => ({ cause, of }));
}

/** Writes how many things a cause concerns: of a list of which only the newest page was read, at least so many. */
const toCount = (of: readonly unknown[], read: readonly unknown[], total: ListTotal | undefined): string => {
  const isMinimum = total !== undefined && (total.totalIsMinimum === true || total.total > read.length);
  return t.many(of.length, isMinimum);
};

/** One's own, or that of somebody in the organisation, which names its owner. */
type ExpiringToken = Pick<OwnedToken, 'id' | 'name' | 'expiresAt'> &
  Partial<Pick<OwnedToken, 'userId' | 'ownerFullName'>>;
type OwnedToken = IdentitySchemas['schemas']['OwnedPersonalAccessToken'];
type Schedule = CrawlSchemas['schemas']['CrawlJobStatus'];

const fromNow = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

const toKey = ({ data: { connector }, instance }: Schedule): string =>
  toConnectorKey({ connector, instance });

const UNCLAIMED: readonly (string | undefined)[] = ['no_worker', 'worker_away', 'waits_for_worker'];

/** Returns why an overdue crawl does not start. */
function findDelay({ standstill }: Schedule): 'unclaimed' | 'queued' | 'unmade' {
  if (UNCLAIMED.includes(standstill?.code)) return 'unclaimed';
  return standstill?.code === 'waits_for_place' ? 'queued' : 'unmade';
}

function toOverdue(cause: 'unclaimed' | 'queued' | 'unmade', of: readonly Schedule[]): Concern {
  const [first] = of;
  const isOne = of.length === 1;
  const since = Math.min(...of.map(({ overdueSince }) => Date.parse(overdueSince ?? '')));
  const time = formatAge(since);
  const details = {
    unclaimed: (isOne ? t.unclaimed : t.unclaimedSome)(time),
    queued: t.waitsForPlace,
    unmade: t.notMade,
  };
  const key = first ? toKey(first) : '';
  return {
    id: `overdue ${cause}`,
    tone: 'bad',
    state: 'overdue',
    title: isOne ? t.crawlOverdue(getConnectorName(key, first?.displayName)) : t.crawlsOverdue(of.length),
    detail: details[cause],
    action: cause === 'unclaimed' ? 'connect' : cause === 'queued' ? 'queue' : 'open',
    to: cause === 'queued' ? '/crawls/queue' : isOne ? `/crawls/connectors/${key}` : '/crawls',
  };
}

function toFailing(cause: string, of: readonly Schedule[]): Concern {
  const [first] = of;
  const isOne = of.length === 1;
  const key = first ? toKey(first) : '';
  return {
    id: `failing ${cause}`,
    tone: 'bad',
    state: 'failed',
    title: isOne ? t.crawlFails(getConnectorName(key, first?.displayName)) : t.crawlsFail(of.length),
    detail: cause,
    action: 'open',
    to: isOne ? `/crawls/connectors/${key}` : '/crawls',
  };
}

/** What of a list of leaked tokens needs somebody. @param first - the name and the address of the newest. */
function toLeaks(
  count: string,
  first: { readonly name: string; readonly to: string } | undefined,
  to: string,
) {
  if (!first) return [];
  const isOne = count === '1';
  return [
    {
      id: 'leaks',
      tone: 'bad' as const,
      state: 'leaked' as const,
      title: isOne ? t.tokenLeaked(first.name) : t.tokensLeaked(count),
      detail: isOne ? t.tokenLeakedHint : t.tokensLeakedHint,
      action: 'open' as const,
      to: isOne ? first.to : to,
    },
  ];
}

/** The sources of what may need attention, each read by itself: one service that is unavailable hides only its own. */
export const sources: readonly Source[] = [
  {
    id: 'crawls',
    isFor: isForAdmins,
    async load(signal) {
      const { data } = await unwrap(crawl.GET('/api/v1/crawlingManager/schedule/all', { signal }));
      const overdue = data.filter(({ overdueSince }) => overdueSince !== null);
      const failing = data.filter(
        ({ consecutiveFailures, overdueSince }) => consecutiveFailures > 0 && overdueSince === null,
      );
      return [
        ...(['unclaimed', 'queued', 'unmade'] as const).flatMap((cause) => {
          const of = overdue.filter((schedule) => findDelay(schedule) === cause);
          return of.length === 0 ? [] : [toOverdue(cause, of)];
        }),
        ...groupByCause(failing, ({ lastFailure }) => lastFailure ?? '').map(({ cause, of }) =>
          toFailing(cause, of),
        ),
      ];
    },
  },
  {
    id: 'mails',
    isFor: isForAdmins,
    async load(signal) {
      const query = { state: 'failed' as const, since: fromNow(-RECENT_DAYS), limit: MAX_PAGE };
      const { data, pagination } = await unwrap(
        mail.GET('/api/v1/mail/records', { params: { query }, signal }),
      );
      return groupByCause(data, ({ failure }) => failure?.message ?? '').flatMap(({ cause, of }) => {
        const [first] = of;
        if (!first) return [];
        const isOne = of.length === 1;
        return [
          {
            id: cause,
            tone: 'bad' as const,
            state: 'failed' as const,
            title: isOne
              ? t.mailFailed(first.subject, first.to.join(', '))
              : t.mailsFailed(toCount(of, data, pagination)),
            detail: cause,
            action: 'open' as const,
            to: isOne ? `/mails/${first.id}` : '/mails?state=failed',
          },
        ];
      });
    },
  },
  {
    id: 'leaks',
    isFor: isForAdmins,
    async load(signal) {
      const query = { action: 'token.leaked', from: fromNow(-RECENT_DAYS), limit: MAX_PAGE };
      const { data, names, pagination } = await unwrap(
        identity.GET('/api/v1/audit', { params: { query }, signal }),
      );
      const [first] = data;
      const name = (first && first.subjectId !== null && names[first.subjectId]?.name) || '';
      return toLeaks(toCount(data, data, pagination), first && { name, to: LEAKS }, LEAKS);
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
      const leaked = tokens.filter(
        ({ revokedAt, revokedReason }) => revokedReason === 'leaked' && (revokedAt ?? '') > since,
      );
      const [first] = leaked;
      return toLeaks(
        String(leaked.length),
        first && { name: first.name, to: `/account/tokens/${first.id}` },
        '/account/tokens?state=revoked',
      );
    },
  },
  {
    id: 'tools',
    isFor: isForAdmins,
    async load(signal) {
      const query = { limit: MAX_PAGE };
      const { data } = await unwrap(identity.GET('/api/v1/mcp-servers', { params: { query }, signal }));
      const waiting = data.filter(({ isEnabled, tools }) => isEnabled && tools.waiting > 0);
      const count = waiting.reduce((sum, { tools }) => sum + tools.waiting, 0);
      if (count === 0) return [];
      return [
        {
          id: 'tools',
          tone: 'notice' as const,
          state: 'waits' as const,
          // oxfmt-ignore
          title: t.toolsWait(count, waiting.map(({ name }) => name)),
          detail: t.toolsWaitHint,
          action: 'review' as const,
          to: '/tools?show=waiting',
        },
      ];
    },
  },
  {
    id: 'tokens',
    isFor: () => true,
    async load(signal, { id: myId, isAdmin }) {
      const params = {
        query: { state: 'active' as const, expiresBefore: fromNow(SOON_DAYS), limit: MAX_PAGE },
      };
      const page: { readonly data: readonly ExpiringToken[]; readonly pagination?: ListTotal } = isAdmin
        ? await unwrap(identity.GET('/api/v1/personal-access-tokens/admin', { params, signal }))
        : await unwrap(identity.GET('/api/v1/personal-access-tokens', { params, signal })).then(
            ({ tokens, ...own }) => ({ ...own, data: tokens }),
          );
      const { data } = page;
      const [first] = data;
      if (!first) return [];
      const isOne = data.length === 1;
      const { id, name, userId = myId, ownerFullName = '' } = first;
      const isMine = userId === myId;
      const all = isAdmin ? '/organisation/tokens?attention=expiring' : '/account/tokens?sort=expiry';
      const soonest = data.map(({ expiresAt }) => expiresAt ?? '').toSorted()[0] ?? '';
      return [
        {
          id: 'tokens',
          tone: 'notice' as const,
          state: 'expires' as const,
          title: isOne
            ? t.tokenExpires(name, isMine ? '' : ownerFullName, soonest)
            : t.tokensExpire(toCount(data, data, page.pagination), soonest),
          detail: isOne ? t.tokenExpiresHint : t.tokensExpireHint,
          action: 'open' as const,
          to:
            isOne && isMine
              ? `/account/tokens/${id}`
              : isOne
                ? `${all}&${new URLSearchParams({ q: name })}`
                : all,
        },
      ];
    },
  },
  {
    id: 'invitations',
    isFor: isForAdmins,
    async load(signal) {
      const query = { limit: MAX_PAGE, state: 'stalled' as const };
      const { data, pagination } = await unwrap(identity.GET('/api/v1/users', { params: { query }, signal }));
      return groupByCause(data, ({ invitation }) => invitation?.reason ?? '').flatMap(({ cause, of }) => {
        const [first] = of;
        if (!first) return [];
        const [isOne, hasFailed] = [of.length === 1, cause !== ''];
        const one = (hasFailed ? t.invitationFailed : t.invitationLapses)(first.fullName);
        const many = (hasFailed ? t.invitationsFailed : t.invitationsLapse)(toCount(of, data, pagination));
        const hint = isOne ? t.invitationLapsesHint : t.invitationsLapseHint;
        return [
          {
            id: cause,
            tone: hasFailed ? ('bad' as const) : ('notice' as const),
            state: hasFailed ? ('failed' as const) : ('lapses' as const),
            title: isOne ? one : many,
            detail: hasFailed ? cause : hint,
            action: 'resend' as const,
            to: '/organisation/members?show=stalled',
          },
        ];
      });
    },
  },
];
