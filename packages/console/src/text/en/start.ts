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
  attention: {
    title: (count: number, isMinimum: boolean) => {
      if (count === 1) return 'One thing needs somebody';
      return isMinimum ? `${count} or more things need somebody` : `${count} things need somebody`;
    },
    others: (count: number, isMinimum: boolean, what: string) =>
      `And ${count}${isMinimum ? '+' : ''} more: ${what}`,
    allWell: 'Nothing needs you at the moment.',
    unread: (what: readonly string[]) =>
      `There may be more: ${list.format(what)} could not be loaded. Nothing was changed.`,
    sources: {
      crawls: 'failing crawls',
      mails: 'failed mails',
      leaks: 'leaked tokens',
      tools: 'tool definitions',
      tokens: 'expiring tokens',
      invitations: 'open invitations',
    },
    open: 'Open',
    openThing: (title: string) => `Open: ${title}`,
    /** The words that the lists have for these states. */
    states: {
      failed: 'Failed',
      overdue: 'Overdue',
      leaked: 'Leaked',
      waits: 'Waits',
      expires: 'Expires soon',
      invited: 'Invited',
    },
    crawlFails: (connector: string) => `The crawl of ${connector} fails`,
    crawlOverdue: (connector: string) => `The crawl of ${connector} is overdue`,
    mailFailed: (subject: string, to: string) => `“${subject}” to ${to} was not sent`,
    tokenLeaked: (name: string) =>
      name === '' ? 'A token was found in public' : `“${name}” was found in public`,
    tokenLeakedHint: 'It was revoked at once. Replace it where it was used.',
    toolsWait: (count: number, server: string) =>
      `${count === 1 ? 'A tool definition' : `${count} tool definitions`} of ${server} ${count === 1 ? 'waits' : 'wait'} for approval`,
    toolsWaitHint: 'Agents do not see them until an administrator has approved them.',
    tokenExpires: (name: string, owner: string, at: string) =>
      `“${name}”${owner === '' ? '' : ` of ${owner}`} expires on ${formatDay(new Date(at))}`,
    tokenExpiresHint: 'Rotate it before what uses it stops.',
    invitationOpen: (name: string) => `${name} has not accepted the invitation`,
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
