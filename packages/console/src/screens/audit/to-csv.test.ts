import type { ExportedEntry } from './api.ts';
import { toCsv } from './to-csv.ts';

/** The row of an entry that has nothing but a reason, without the commas of the empty cells around it. */
const toCell = (reason: unknown) => {
  const csv = toCsv([{ reason } as unknown as ExportedEntry]);
  return csv.slice(csv.indexOf('\r\n') + 2, -2).replaceAll(/^,+|,+$/g, '');
};

test.each([
  ['plain', 'plain'],
  ['a "quoted", one', '"a ""quoted"", one"'],
  ['two\r\nlines', '"two\r\nlines"'],
  [null, ''],
  [{ name: 1 }, '"{""name"":1}"'],
])('writes %j as RFC 4180 has it', (value, cell) => {
  expect(toCell(value)).toBe(cell);
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx'])('makes %j a text for a spreadsheet', (value) => {
  expect(toCell(value)).toMatch(/^"?'/);
});
