import { createTexts } from '../isolate.ts';
import { LOCALE } from './shared.ts';

const list = new Intl.ListFormat(LOCALE);

/** The texts of what agents know, and how old it is. */
export const knowledge = createTexts({
  intro: 'The sources of what agents can search, and how old they are. Answers of tools say the same.',
  sources: 'Sources',
  one: 'Source',
  about: 'About this source',
  searchedWith: (servers: readonly string[]) => `Searched with: ${list.format(servers)}`,
  states: {
    fresh: 'Fresh',
    late: 'Late',
    failing: 'Failing',
    paused: 'Paused',
    unscheduled: 'Not scheduled',
  },
  noServer: 'No MCP server answers from it',
  documents: (count: string, isOne: boolean) => (isOne ? '1 document' : `${count} documents`),
  facts: {
    crawled: 'What is crawled',
    unsaid: 'Its worker does not say',
    documents: 'Documents',
    newest: 'Newest document',
    oldest: 'Oldest document',
    completed: 'Last crawled',
    full: 'Last crawled from the beginning',
    next: 'Next crawl',
    servers: 'Searched with',
    readers: 'Who can search it',
  },
  readers: {
    everyone: 'Everybody in the organisation',
    groups: (names: readonly string[]) => `Members of ${list.format(names)}`,
    everyoneAndGroups: (names: readonly string[]) =>
      `Everybody in the organisation; with some tools, only members of ${list.format(names)}`,
    nobody: 'Nobody, until a tool that answers from it is approved',
    hint: 'Of its documents, everybody finds only those whose own access list names them or one of their groups. The search decides that, not this page.',
  },
  run: 'The crawl that brought it',
  crawls: 'Its crawls',
  ask: {
    title: 'What an agent finds for you',
    hint: 'The tool is called as you, as it is for an agent of yours: what you can find, it can find. The call counts and is recorded.',
    label: 'Search',
    placeholder: 'A question or some words',
    tool: 'Tool',
    submit: 'Search',
    none: 'No tool that you can use searches here.',
    noneForAdmins: 'Mount a search and say from which connectors it answers.',
    servers: 'Add a server',
    results: 'Answer',
    empty: 'The tool has answered with nothing.',
    failed: 'The tool reports that it failed:',
    other: (type: string) => `Content of another kind: ${type}`,
    connect: 'Connect',
    source: (name: string) => `Source: ${name}`,
  },
  asMember: {
    title: 'Knowledge that their agents can search',
    hint: 'By the platform’s own decisions. Nobody can search as somebody else, administrators neither: titles alone can be secret. To see what a member finds, ask them to search on their page “Knowledge”.',
    with: (servers: readonly string[]) => `With ${list.format(servers)}`,
    none: 'No tool that answers from it is for them',
    yes: 'Can search it',
    no: 'Cannot',
    link: 'What a member’s agents can search is on the page of that member.',
    members: 'Members',
  },
  emptyTitle: 'No source is known',
  emptyForAdmins:
    'Schedule a connector, then say on the page of an MCP server which connectors it answers from.',
  emptyForMembers: 'No tool that you can use says where its answers come from.',
  schedule: 'Schedule a connector',
  home: {
    title: 'Knowledge',
    all: 'All sources',
    more: (count: number) => (count === 1 ? 'And one more source' : `And ${count} more sources`),
  },
});
