import { listChanges } from './describe-entry.ts';
import type { AuditEntry } from './api.ts';

const entry = (changes: AuditEntry['changes']): AuditEntry =>
  ({ changes, detail: {} }) as unknown as AuditEntry;

test('the definition of a tool is named by the beginning of its hash', () => {
  const approved = entry({ 'search definition': { from: null, to: `3fQ-x_9a${'b'.repeat(35)}` } });
  expect(listChanges(approved)).toEqual([['search definition', 'None → version 3fQ-x_9a']]);
});
