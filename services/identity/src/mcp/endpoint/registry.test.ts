import { platformTools } from '../../credentials/bounds/platform-tools.js';
import { createTools, type ToolDeps } from './registry.js';

test('PAT-56 a credential can be limited to every tool of the platform, and to no other name', () => {
  // The names need nothing that the tools call.
  const nothing = {} as never;
  const deps: ToolDeps = {
    findOrganisationName: nothing,
    tokens: nothing,
    crawl: nothing,
    mail: nothing,
    mailTimeoutMs: 1,
    waits: nothing,
    findAges: nothing,
    clock: nothing,
  };
  const names = createTools(deps).map(({ name }) => name);
  expect(names.toSorted()).toEqual([...platformTools].toSorted());
});
