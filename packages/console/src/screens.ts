import { text } from '#text/shared';
import type { ReactNode } from 'react';

export interface Screen {
  /** TanStack's syntax: `$name` is a parameter. */
  readonly path: string;
  /** Undefined: reached from another screen, not from the navigation. */
  readonly label?: string;
  readonly isForAdmins?: boolean;
  load(): Promise<{ readonly Screen: () => ReactNode }>;
}

interface ScreenGroup {
  readonly label: string;
  readonly screens: readonly Screen[];
}

/** Every screen of the console, in the order of its navigation. */
export const screenGroups: readonly ScreenGroup[] = [
  {
    label: text.navigation.overview,
    screens: [{ path: '/', label: text.screens.start, load: () => import('./screens/start/start.tsx') }],
  },
  {
    label: text.navigation.account,
    screens: [
      {
        path: '/account/tokens',
        label: text.screens.tokens,
        load: () => import('./screens/tokens/tokens.tsx'),
      },
      { path: '/account/tokens/$tokenId', load: () => import('./screens/tokens/token.tsx') },
      {
        path: '/account/apps',
        label: text.screens.apps,
        load: () => import('./screens/apps/apps.tsx'),
      },
      {
        path: '/account',
        label: text.screens.account,
        load: () => import('./screens/account/account.tsx'),
      },
    ],
  },
  {
    label: text.navigation.crawling,
    screens: [
      {
        path: '/crawls',
        label: text.screens.crawls,
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
        label: text.screens.queue,
        isForAdmins: true,
        load: () => import('./screens/crawls/queue.tsx'),
      },
      {
        path: '/crawls/events',
        label: text.screens.events,
        isForAdmins: true,
        load: () => import('./screens/crawls/events.tsx'),
      },
    ],
  },
  {
    label: text.navigation.mail,
    screens: [
      {
        path: '/mails',
        label: text.screens.mails,
        isForAdmins: true,
        load: () => import('./screens/mails/mails.tsx'),
      },
      { path: '/mails/$mailId', isForAdmins: true, load: () => import('./screens/mails/mail.tsx') },
      {
        path: '/mails/templates',
        label: text.screens.templates,
        isForAdmins: true,
        load: () => import('./screens/mails/templates.tsx'),
      },
      {
        path: '/mails/smtp',
        label: text.screens.smtp,
        isForAdmins: true,
        load: () => import('./screens/mails/smtp.tsx'),
      },
    ],
  },
  {
    label: text.navigation.organisation,
    screens: [
      {
        path: '/organisation/members',
        label: text.screens.members,
        isForAdmins: true,
        load: () => import('./screens/organisation/members.tsx'),
      },
      {
        path: '/organisation/sign-in',
        label: text.screens.signIn,
        isForAdmins: true,
        load: () => import('./screens/sign-in/sign-in.tsx'),
      },
      {
        path: '/organisation/tokens',
        label: text.screens.allTokens,
        isForAdmins: true,
        load: () => import('./screens/organisation/all-tokens.tsx'),
      },
      {
        path: '/organisation/applications',
        label: text.screens.applications,
        isForAdmins: true,
        load: () => import('./screens/applications/applications.tsx'),
      },
      {
        path: '/organisation/applications/$clientId',
        isForAdmins: true,
        load: () => import('./screens/applications/application.tsx'),
      },
      {
        path: '/organisation/service-accounts',
        label: text.screens.serviceAccounts,
        isForAdmins: true,
        load: () => import('./screens/service-accounts/service-accounts.tsx'),
      },
      {
        path: '/organisation/service-accounts/$accountId',
        isForAdmins: true,
        load: () => import('./screens/service-accounts/service-account.tsx'),
      },
      {
        path: '/organisation/token-policy',
        label: text.screens.tokenPolicy,
        isForAdmins: true,
        load: () => import('./screens/policy/token-policy.tsx'),
      },
      {
        path: '/organisation/mcp-servers',
        label: text.screens.mcpServers,
        isForAdmins: true,
        load: () => import('./screens/mcp-servers/mcp-servers.tsx'),
      },
      {
        path: '/organisation/mcp-servers/$serverId',
        isForAdmins: true,
        load: () => import('./screens/mcp-servers/mcp-server.tsx'),
      },
      {
        path: '/organisation/apps',
        label: text.screens.allApps,
        isForAdmins: true,
        load: () => import('./screens/apps/all-apps.tsx'),
      },
      {
        path: '/organisation/audit',
        label: text.screens.audit,
        isForAdmins: true,
        load: () => import('./screens/audit/audit.tsx'),
      },
    ],
  },
];
