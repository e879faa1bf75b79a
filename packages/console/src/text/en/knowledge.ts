import { createTexts } from '../isolate.ts';
import { LOCALE } from './shared.ts';

const list = new Intl.ListFormat(LOCALE);

/** The texts of what agents know, and how old it is. */
export const knowledge = createTexts({
  intro: 'The sources of what agents can search, and how old they are. Answers of tools say the same.',
  sources: 'Sources',
  open: 'Open',
  openSource: (name: string) => `Open: ${name}`,
  searchedWith: (servers: readonly string[]) => `Searched with: ${list.format(servers)}`,
  states: {
    fresh: 'Fresh',
    late: 'Late',
    failing: 'Failing',
    paused: 'Paused',
    unscheduled: 'Not scheduled',
  },
  noServer: 'No MCP server answers from it',
  emptyTitle: 'No source is known',
  emptyForAdmins:
    'Schedule a connector, then say on the page of an MCP server which connectors it answers from.',
  emptyForMembers: 'No tool that you can use says where its answers come from.',
  schedule: 'Schedule a connector',
  home: {
    title: 'Knowledge',
    all: 'All sources',
    fresh: (count: number) =>
      count === 1 ? 'What agents know is fresh.' : `What agents know is fresh, in ${count} sources.`,
    oldest: 'The oldest was last crawled',
    more: (count: number) => (count === 1 ? 'And one more source' : `And ${count} more sources`),
  },
});
