import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPrivateHost, listClients } from './clients.ts';

const docs = join(import.meta.dirname, '../../../../../docs/connect');
const read = (name: string): string => readFileSync(join(docs, `${name}.md`), 'utf8');
const readProgram = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const programs = { python: readProgram('agent.py.txt'), typescript: readProgram('agent.mjs.txt') };
const clients = listClients('http://localhost:8080/mcp', programs);

/** Without spaces and line ends, which JSON in a page of the documentation has others of. */
const squeeze = (text: string): string => text.replaceAll(/\s+/g, '');

test.each(['claude-code', 'codex', 'vs-code', 'cursor'])(
  'what the screen says for %s is what its page of the documentation says [UI-26]',
  (id) => {
    const { oauth, token } = clients.find((one) => one.id === id) ?? {};
    const page = squeeze(read(id));
    for (const line of oauth?.code.split('\n').length === 2 ? oauth.code.split('\n') : [oauth?.code ?? ''])
      expect(page).toContain(squeeze(line));
    // The page of VS Code shows a narrower connection.
    const withToken = id === 'vs-code' ? '"Authorization": "Bearer ${input:token}"' : (token?.code ?? '');
    expect(page).toContain(squeeze(withToken));
  },
);

test.each(['python', 'typescript'] as const)(
  'the program for %s is the one of the documentation, which is tested [UI-26]',
  (id) => {
    expect(read(id)).toContain(programs[id]);
    const install = clients.find((one) => one.id === id)?.oauth?.code.split('\n')[0] ?? '';
    expect(read(id)).toContain(install);
  },
);

test('every client has a way, and no way contains a token', () => {
  for (const { steps, oauth, token } of clients) expect(steps ?? oauth ?? token).toBeDefined();
  expect(JSON.stringify(clients)).not.toContain('pat_');
});

test.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['10.1.2.3', true],
  ['172.20.0.1', true],
  ['knowledge', true],
  ['knowledge.internal', true],
  ['knowledge.example.com', false],
  ['172.40.0.1', false],
])('isPrivateHost takes %s as %s', (host, isPrivate) => {
  expect(isPrivateHost(host)).toBe(isPrivate);
});
