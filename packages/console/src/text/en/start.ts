import { formatDay } from '../dates.ts';
import { createTexts } from '../isolate.ts';
import { LOCALE } from './shared.ts';

const list = new Intl.ListFormat(LOCALE);

/** The texts of the getting-started page. */
export const start = createTexts({
  title: (name: string) => `Welcome, ${name}`,
  stepsTitle: 'First steps',
  intro: 'See what the platform does, step by step. Each step is checked off once it has happened.',
  hide: 'Hide these steps',
  done: '(done)',
  homeIntro: 'What needs somebody, and what the platform does.',
  passkey: {
    title: 'Sign in without a password next time',
    advice:
      'With a passkey, this device, your phone or a security key signs you in by a finger, a face or a PIN. It takes the place of the password and of the second factor.',
    setUp: 'Set up a passkey',
    decline: 'Not now',
  },
  answer: {
    knowledge: (youngest: string, oldest: string) =>
      youngest === oldest
        ? `Your knowledge is ${oldest} old.`
        : `Your knowledge is ${youngest} to ${oldest} old.`,
    noKnowledge: 'No knowledge is connected yet.',
    notCrawled: 'Your knowledge has not been crawled yet.',
    stale: (count: number, of: number) => {
      if (of === 1) return 'It is late, or its crawls fail.';
      return `${count} of ${of} sources ${count === 1 ? 'is late or fails' : 'are late or fail'}.`;
    },
    /** Of an organisation. */
    calls: (agents: string, calls: string, isOneAgent: boolean, isOneCall: boolean) =>
      `${isOneAgent ? '1 agent' : `${agents} agents`} made ${isOneCall ? '1 call' : `${calls} calls`} today`,
    ownCalls: (agents: string, calls: string, isOneAgent: boolean, isOneCall: boolean) =>
      `${isOneAgent ? 'Your agent' : `${agents} agents of yours`} made ${isOneCall ? '1 call' : `${calls} calls`} today`,
    failures: (count: string) => `, of which ${count} failed`,
    noCalls: 'No agent has called today.',
    noOwnCalls: 'No agent of yours has called today.',
    up: 'Everything is up.',
    down: (services: readonly string[]) =>
      `${list.format(services)} ${services.length === 1 ? 'does' : 'do'} not answer.`,
    services: { crawls: 'Crawling', mails: 'Mail', identity: 'The platform' },
    chart: 'Calls in the last seven days',
    chartOf: (days: readonly string[]) => `Calls a day: ${days.join(', ')}`,
    today: 'Today',
    total: (count: string, isOne: boolean) => (isOne ? '1 call' : `${count} calls`),
  },
  attention: {
    title: (count: number) => (count === 1 ? 'One thing needs somebody' : `${count} things need somebody`),
    allWell: 'Nothing needs you at the moment.',
    unread: (what: readonly string[]) =>
      `There may be more: ${list.format(what)} could not be loaded. Nothing was changed.`,
    sources: {
      crawls: 'failing crawls',
      mails: 'failed mails',
      leaks: 'leaked tokens',
      tools: 'tool definitions',
      tokens: 'expiring tokens',
      invitations: 'stalled invitations',
    },
    actions: {
      open: 'Open',
      connect: 'Connect one',
      queue: 'Open the queue',
      review: 'Review',
      resend: 'Invite again',
    },
    actionFor: (action: string, title: string) => `${action}: ${title}`,
    /** The words that the lists have for these states. */
    states: {
      failed: 'Failed',
      overdue: 'Overdue',
      leaked: 'Leaked',
      waits: 'Waits',
      expires: 'Expires soon',
      lapses: 'Lapses soon',
    },
    /** A count of what was read, which may be no more than the newest. */
    many: (count: number, isMinimum: boolean) => `${count}${isMinimum ? '+' : ''}`,
    crawlFails: (connector: string) => `The crawl of ${connector} fails`,
    crawlsFail: (count: number) => `${count} crawls fail`,
    crawlOverdue: (connector: string) => `The crawl of ${connector} is overdue`,
    crawlsOverdue: (count: number) => `${count} crawls are overdue`,
    unclaimed: (time: string) => `No worker has claimed it for ${time}.`,
    unclaimedSome: (time: string) => `No worker has claimed them for up to ${time}.`,
    waitsForPlace: 'Other runs of the connector are before it.',
    notMade: 'The crawl service has not begun it.',
    mailFailed: (subject: string, to: string) => `“${subject}” to ${to} was not sent`,
    mailsFailed: (count: string) => `${count} mails were not sent`,
    tokenLeaked: (name: string) =>
      name === '' ? 'A token was found in public' : `“${name}” was found in public`,
    tokensLeaked: (count: string) => `${count} tokens were found in public`,
    tokenLeakedHint: 'It was revoked at once. Replace it where it was used.',
    tokensLeakedHint: 'They were revoked at once. Replace them where they were used.',
    toolsWait: (count: number, servers: readonly string[]) =>
      `${count === 1 ? 'A tool definition' : `${count} tool definitions`} of ${list.format(servers)} ${count === 1 ? 'waits' : 'wait'} for approval`,
    toolsWaitHint: 'Agents do not see them until an administrator has approved them.',
    tokenExpires: (name: string, owner: string, at: string) =>
      `“${name}”${owner === '' ? '' : ` of ${owner}`} expires on ${formatDay(new Date(at))}`,
    tokensExpire: (count: string, at: string) =>
      `${count} tokens expire within two weeks, the first on ${formatDay(new Date(at))}`,
    tokenExpiresHint: 'Rotate it before what uses it stops.',
    tokensExpireHint: 'Rotate them before what uses them stops.',
    invitationFailed: (name: string) => `The invitation of ${name} did not arrive`,
    invitationsFailed: (count: string) => `${count} invitations did not arrive`,
    invitationLapses: (name: string) => `The invitation of ${name} lapses within two days`,
    invitationsLapse: (count: string) => `${count} invitations lapse within two days`,
    invitationLapsesHint: 'Nobody has accepted it yet.',
    invitationsLapseHint: 'Nobody has accepted them yet.',
    figures: {
      title: 'The last 24 hours',
      completed: 'Crawls completed',
      failed: 'Crawls failed',
      active: 'Crawls running now',
      delayed: 'Crawls scheduled',
      sent: 'Mails sent',
      notSent: 'Mails failed',
      atLeast: (count: string) => `${count}+`,
    },
  },
  steps: {
    token: {
      title: 'Create a token',
      advice: 'For an agent or a script. It acts as you, with the permissions that you choose.',
      action: 'My tokens',
    },
    call: {
      title: 'Connect an agent',
      advice: 'One command for your client, with or without a token. Ask the agent “who am I?”.',
      action: 'Connect',
    },
    crawl: {
      title: 'Schedule a crawl',
      advice: 'Choose a connector and its times; you see the next runs while you type.',
      action: 'Crawls',
    },
    event: {
      title: 'See its event',
      advice: 'Each completed run publishes one. Press “Run now” if you don’t want to wait.',
      action: 'Events',
    },
    mail: {
      title: 'Send a mail',
      advice: 'Check the SMTP server, then invite somebody: the invitation is a mail.',
      action: 'Members',
    },
  },
});
