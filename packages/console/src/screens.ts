import { text } from '#text/shared';
import type { ReactNode } from 'react';
import {
  AppsIcon,
  BookIcon,
  CrawlIcon,
  GridIcon,
  HomeIcon,
  KeyIcon,
  LinkIcon,
  LockIcon,
  LogIcon,
  MailIcon,
  PeopleIcon,
  PlugIcon,
  RobotIcon,
  ServerIcon,
  ShieldIcon,
} from './ui/icons.tsx';

export interface Screen {
  /** TanStack's syntax: `$name` is a parameter. */
  readonly path: string;
  /** Its name among the views of its place; undefined: it is reached from one of them. */
  readonly label?: string;
  readonly isForAdmins?: boolean;
  /** The guide about it, by its file in docs/connect. */
  readonly guide?: string;
  load(): Promise<{ readonly Screen: () => ReactNode }>;
}

/** A line of the navigation. It opens the first of its screens; the others are views beside it, or lie below. */
export interface Place {
  readonly label: string;
  readonly icon: () => ReactNode;
  /** Whether it stands in the menu of the person instead. */
  readonly isInMenu?: boolean;
  readonly screens: readonly Screen[];
}

interface PlaceGroup {
  readonly label?: string;
  readonly places: readonly Place[];
}

/** Every screen of the console, in the order of its navigation. */
export const placeGroups: readonly PlaceGroup[] = [
  {
    places: [
      {
        label: text.places.connect,
        icon: PlugIcon,
        screens: [
          {
            path: '/connect',
            guide: 'mcp-clients',
            label: text.views.connect,
            load: () => import('./screens/connect/connect.tsx'),
          },
        ],
      },
      {
        label: text.places.home,
        icon: HomeIcon,
        screens: [{ path: '/', label: text.views.home, load: () => import('./screens/start/start.tsx') }],
      },
      {
        label: text.places.knowledge,
        icon: BookIcon,
        screens: [
          {
            path: '/knowledge',
            guide: 'documents',
            label: text.views.knowledge,
            load: () => import('./screens/knowledge/knowledge.tsx'),
          },
          { path: '/knowledge/$source', load: () => import('./screens/knowledge/source.tsx') },
        ],
      },
      {
        label: text.places.tools,
        icon: ServerIcon,
        screens: [
          {
            path: '/tools',
            guide: 'mcp-servers',
            label: text.views.tools,
            load: () => import('./screens/tools/tools.tsx'),
          },
          { path: '/tools/$tool', load: () => import('./screens/tools/tool.tsx') },
          {
            path: '/organisation/mcp-servers',
            guide: 'mcp-servers',
            label: text.views.mcpServers,
            isForAdmins: true,
            load: () => import('./screens/mcp-servers/mcp-servers.tsx'),
          },
          {
            path: '/organisation/mcp-servers/$serverId',
            isForAdmins: true,
            load: () => import('./screens/mcp-servers/mcp-server.tsx'),
          },
        ],
      },
    ],
  },
  {
    label: text.navigation.access,
    places: [
      {
        label: text.places.tokens,
        icon: KeyIcon,
        screens: [
          {
            path: '/account/tokens',
            guide: 'access',
            label: text.views.ownTokens,
            load: () => import('./screens/tokens/tokens.tsx'),
          },
          { path: '/account/tokens/$tokenId', load: () => import('./screens/tokens/token.tsx') },
          {
            path: '/organisation/tokens',
            guide: 'access',
            label: text.views.allTokens,
            isForAdmins: true,
            load: () => import('./screens/organisation/all-tokens.tsx'),
          },
          {
            path: '/organisation/tokens/$tokenId',
            isForAdmins: true,
            load: () => import('./screens/tokens/token.tsx'),
          },
        ],
      },
      {
        label: text.places.apps,
        icon: AppsIcon,
        screens: [
          {
            path: '/account/apps',
            guide: 'oauth',
            label: text.views.ownApps,
            load: () => import('./screens/apps/apps.tsx'),
          },
          { path: '/account/apps/$connectionId', load: () => import('./screens/apps/app.tsx') },
          {
            path: '/organisation/apps',
            guide: 'oauth',
            label: text.views.allApps,
            isForAdmins: true,
            load: () => import('./screens/apps/all-apps.tsx'),
          },
          {
            path: '/organisation/apps/attempts',
            guide: 'oauth',
            label: text.views.attempts,
            isForAdmins: true,
            load: () => import('./screens/connect/all-attempts.tsx'),
          },
          {
            path: '/organisation/apps/$connectionId',
            isForAdmins: true,
            load: () => import('./screens/apps/app.tsx'),
          },
        ],
      },
      {
        label: text.places.services,
        icon: LinkIcon,
        screens: [
          {
            path: '/account/services',
            guide: 'mcp-servers',
            label: text.views.services,
            load: () => import('./screens/services/services.tsx'),
          },
          { path: '/account/services/$serverId', load: () => import('./screens/services/service.tsx') },
        ],
      },
      {
        label: text.places.serviceAccounts,
        icon: RobotIcon,
        screens: [
          {
            path: '/organisation/service-accounts',
            guide: 'access',
            label: text.views.serviceAccounts,
            isForAdmins: true,
            load: () => import('./screens/service-accounts/service-accounts.tsx'),
          },
          {
            path: '/organisation/service-accounts/$accountId',
            isForAdmins: true,
            load: () => import('./screens/service-accounts/service-account.tsx'),
          },
        ],
      },
      {
        label: text.places.applications,
        icon: GridIcon,
        screens: [
          {
            path: '/organisation/applications',
            guide: 'oauth',
            label: text.views.applications,
            isForAdmins: true,
            load: () => import('./screens/applications/applications.tsx'),
          },
          {
            path: '/organisation/applications/$clientId',
            isForAdmins: true,
            load: () => import('./screens/applications/application.tsx'),
          },
        ],
      },
      {
        label: text.places.guides,
        icon: BookIcon,
        isInMenu: true,
        screens: [
          { path: '/guides', label: text.views.guides, load: () => import('./screens/guides/guides.tsx') },
          { path: '/guides/$guide', load: () => import('./screens/guides/one-guide.tsx') },
        ],
      },
      {
        label: text.places.account,
        icon: LockIcon,
        isInMenu: true,
        screens: [
          {
            path: '/account',
            label: text.views.account,
            load: () => import('./screens/account/account.tsx'),
          },
        ],
      },
    ],
  },
  {
    label: text.navigation.work,
    places: [
      {
        label: text.places.crawls,
        icon: CrawlIcon,
        screens: [
          {
            path: '/crawls',
            guide: 'crawl-workers',
            label: text.views.crawls,
            isForAdmins: true,
            load: () => import('./screens/crawls/crawls.tsx'),
          },
          {
            path: '/crawls/connectors/$connector',
            isForAdmins: true,
            load: () => import('./screens/crawls/crawl.tsx'),
          },
          {
            path: '/crawls/connectors/$connector/runs/$runId',
            isForAdmins: true,
            load: () => import('./screens/crawls/run.tsx'),
          },
          {
            path: '/crawls/queue',
            label: text.views.queue,
            isForAdmins: true,
            load: () => import('./screens/crawls/queue.tsx'),
          },
          {
            path: '/crawls/endpoints',
            guide: 'crawl-endpoints',
            label: text.views.endpoints,
            isForAdmins: true,
            load: () => import('./screens/crawls/endpoints.tsx'),
          },
          {
            path: '/crawls/sync-events',
            guide: 'events',
            label: text.views.syncEvents,
            isForAdmins: true,
            load: () => import('./screens/crawls/sync-events.tsx'),
          },
        ],
      },
      {
        label: text.places.mails,
        icon: MailIcon,
        screens: [
          {
            path: '/mails',
            label: text.views.mails,
            isForAdmins: true,
            load: () => import('./screens/mails/mails.tsx'),
          },
          { path: '/mails/$mailId', isForAdmins: true, load: () => import('./screens/mails/mail.tsx') },
          {
            path: '/mails/suppressions',
            guide: 'bounces',
            label: text.views.suppressions,
            isForAdmins: true,
            load: () => import('./screens/mails/suppressions.tsx'),
          },
          {
            path: '/mails/templates',
            label: text.views.templates,
            isForAdmins: true,
            load: () => import('./screens/mails/templates.tsx'),
          },
          {
            path: '/mails/brand',
            label: text.views.brand,
            isForAdmins: true,
            load: () => import('./screens/mails/brand.tsx'),
          },
          {
            path: '/mails/smtp',
            label: text.views.smtp,
            isForAdmins: true,
            load: () => import('./screens/mails/smtp.tsx'),
          },
        ],
      },
    ],
  },
  {
    label: text.navigation.organisation,
    places: [
      {
        label: text.places.members,
        icon: PeopleIcon,
        screens: [
          {
            path: '/organisation/members',
            label: text.views.members,
            isForAdmins: true,
            load: () => import('./screens/organisation/members.tsx'),
          },
          {
            path: '/organisation/members/$memberId',
            isForAdmins: true,
            load: () => import('./screens/organisation/member.tsx'),
          },
          {
            path: '/organisation/groups',
            guide: 'access',
            label: text.views.groups,
            isForAdmins: true,
            load: () => import('./screens/groups/groups.tsx'),
          },
          {
            path: '/organisation/groups/$groupId',
            isForAdmins: true,
            load: () => import('./screens/groups/group.tsx'),
          },
        ],
      },
      {
        label: text.places.signIn,
        icon: LockIcon,
        screens: [
          {
            path: '/organisation/sign-in',
            label: text.views.signIn,
            isForAdmins: true,
            load: () => import('./screens/sign-in/sign-in.tsx'),
          },
        ],
      },
      {
        label: text.places.policies,
        icon: ShieldIcon,
        screens: [
          {
            path: '/organisation/token-policy',
            label: text.views.policies,
            isForAdmins: true,
            load: () => import('./screens/policy/token-policy.tsx'),
          },
        ],
      },
      {
        label: text.places.activity,
        icon: LogIcon,
        screens: [
          {
            path: '/activity',
            label: text.views.activity,
            isForAdmins: true,
            load: () => import('./screens/activity/activity.tsx'),
          },
          {
            path: '/activity/$entryId',
            isForAdmins: true,
            load: () => import('./screens/activity/entry.tsx'),
          },
          {
            path: '/activity/audit',
            label: text.views.audit,
            isForAdmins: true,
            load: () => import('./screens/audit/audit.tsx'),
          },
          {
            path: '/activity/destinations',
            guide: 'events',
            label: text.views.destinations,
            isForAdmins: true,
            load: () => import('./screens/destinations/destinations.tsx'),
          },
          {
            path: '/activity/destinations/$destinationId',
            isForAdmins: true,
            load: () => import('./screens/destinations/destination.tsx'),
          },
        ],
      },
    ],
  },
];

export const places: readonly Place[] = placeGroups.flatMap((group) => group.places);

const isBelow = (pathname: string, path: string): boolean =>
  pathname === path || pathname.startsWith(`${path}/`);

/** Returns the views of a place that somebody with the role can open. */
export const listViews = (place: Place, role: string): readonly (Screen & { readonly label: string })[] =>
  place.screens.filter(
    (screen): screen is Screen & { readonly label: string } =>
      screen.label !== undefined && (role === 'admin' || !screen.isForAdmins),
  );

/** Returns the place and the view with the longest path that an address begins with. */
export function findView(pathname: string): { readonly place: Place; readonly view: Screen } | undefined {
  return places
    .flatMap((place) => place.screens.map((view) => ({ place, view })))
    .filter(({ view }) => view.label !== undefined && isBelow(pathname, view.path))
    .toSorted((one, other) => other.view.path.length - one.view.path.length)[0];
}
