import { createTexts } from '../isolate.ts';

/** The texts of the getting-started page. */
export const start = createTexts({
  title: (name: string) => `Welcome, ${name}`,
  intro: 'See what the platform does, step by step. Each step is checked off once it has happened.',
  done: '(done)',
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
