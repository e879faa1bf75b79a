import type { ExportedEntry } from './api.ts';

const columns = [
  'createdAt',
  'action',
  'actorId',
  'actorName',
  'subjectId',
  'subjectName',
  'credentialKind',
  'credentialId',
  'address',
  'userAgent',
  'requestId',
  'reason',
  'changes',
  'detail',
] as const;

/** As RFC 4180 has it. A text that a spreadsheet would take for a formula is made one by an apostrophe. */
function toCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function toCsv(entries: readonly ExportedEntry[]): string {
  const rows = entries.map((entry) => {
    const fields = {
      ...entry,
      credentialKind: entry.credential?.kind,
      credentialId: entry.credential?.id,
    };
    return columns.map((column) => toCell(fields[column])).join(',');
  });
  return [columns.join(','), ...rows, ''].join('\r\n');
}
