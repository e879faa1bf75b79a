import { createTexts } from '../isolate.ts';
import { LOCALE } from './shared.ts';

const day = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' });

/** The texts of the getting-started page. */
export const start = createTexts({
  title: (name: string) => `Welcome, ${name}`,
  intro: 'See what the platform does, step by step. Each step is checked off once it has happened.',
  done: '(done)',
  homeIntro: 'What needs somebody, and what the platform does.',
  attention: {
    title: (count: number) => (count === 1 ? 'One thing needs somebody' : `${count} things need somebody`),
    allWell: 'Nothing needs you at the moment.',
    open: 'Open',
    openThing: (title: string) => `Open: ${title}`,
    tones: { bad: 'Failed', notice: 'Waits' },
    crawlFails: (connector: string) => `The crawl of ${connector} fails`,
    crawlOverdue: (connector: string) => `The crawl of ${connector} is overdue`,
    mailFailed: (subject: string, to: string) => `“${subject}” to ${to} was not sent`,
    tokenLeaked: (name: string) =>
      name === '' ? 'A token was found in public' : `“${name}” was found in public`,
    tokenLeakedHint: 'It was revoked at once. Replace it where it was used.',
    toolsWait: (count: number, server: string) =>
      `${count === 1 ? 'A tool definition' : `${count} tool definitions`} of ${server} ${count === 1 ? 'waits' : 'wait'} for approval`,
    toolsWaitHint: 'Agents do not see them until an administrator has approved them.',
    tokenExpires: (name: string, at: string) => `“${name}” expires on ${day.format(new Date(at))}`,
    tokenExpiresHint: 'Rotate it before what uses it stops.',
    invitationOpen: (name: string) => `${name} has not accepted the invitation`,
    figures: {
      title: 'Crawls',
      completed: 'Completed in the last hour',
      failed: 'Failed in the last hour',
      active: 'Running now',
      delayed: 'Scheduled',
    },
  },
  steps: {
    token: {
      title: 'Create a token',
      advice: 'For an agent or a script. It acts as you, with the permissions that you choose.',
      action: 'My tokens',
    },
    call: {
      title: 'Use it',
      advice: 'The dialog that shows the token has the command for your client. Ask the agent “who am I?”.',
      action: 'My tokens',
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
