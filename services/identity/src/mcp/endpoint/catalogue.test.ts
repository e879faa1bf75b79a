import { createCatalogue } from './catalogue.js';
import { READ_ONLY, type Tool } from './tool.js';

const server = { name: 'test', version: '1' };
const createTestTools = (count: number): Tool[] =>
  // oxfmt-ignore
  Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`, title: '', description: '', annotations: READ_ONLY, isAdminOnly: false, scopes: [],
    inputSchema: { type: 'object' }, outputSchema: { type: 'object' }, call: async () => ({}),
  }));
const filterBy = (...names: string[]) => ({ isReadOnly: false, names: new Set(names) });

test('distinguishes views that differ in one tool, up to the maximum number of tools', () => {
  const { getView } = createCatalogue(createTestTools(53), server);
  const reach = { groups: new Set<string>(), bounds: undefined };
  const principal = { role: 'admin', kind: 'session' } as never;
  for (const last of ['tool_1', 'tool_52'])
    expect([...getView(principal, filterBy('tool_0', last), reach).names]).toEqual(['tool_0', last]);
  expect([...getView(principal, filterBy('tool_0'), reach).names]).toEqual(['tool_0']);
  expect(() => createCatalogue(createTestTools(54), server)).toThrow(RangeError);
});
