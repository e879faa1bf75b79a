import { createTexts } from '../isolate.ts';

/** The texts around the guides. */
export const guides = createTexts({
  intro: 'How to connect agents, sources, mail and programs to this version of the platform.',
  groups: {
    agents: 'Agents and tools',
    crawls: 'Crawls and documents',
    mails: 'Mail',
    programs: 'Programs and operation',
  },
  code: (number: number) => `Example ${number}`,
  contents: 'On this page',
});
