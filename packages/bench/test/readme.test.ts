import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatTable, readResults } from '../src/runner/report.js';
import { suites } from '../src/suites.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const README = here('../README.md');
const tables = /(?<=<!-- results -->\n)[^]*(?=<!-- \/results -->)/;

// oxfmt-ignore
test('the README has all values with their bars and last figures (renew it with UPDATE_RESULTS=1)', async () => {
  const expected = await Promise.all(suites.map(async (suite) => {
    const table = formatTable(suite, await readResults(here('../results'), suite));
    return `\n**${suite.name}**: ${suite.title}\n\n${table}\n`;
  }));
  const text = `${expected.join('')}\n`;
  if (process.env.UPDATE_RESULTS) writeFileSync(README, readFileSync(README, 'utf8').replace(tables, text));
  expect(tables.exec(readFileSync(README, 'utf8'))?.[0]).toBe(text);
});
