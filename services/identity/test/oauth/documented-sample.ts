import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '@platform/testing';

const folder = join(import.meta.dirname, '../../../../docs/connect');

/** Returns the first program in a language on a page of `docs/connect`, so that what people copy is what the tests run. */
export function readSample(page: string, language: string): string {
  const text = readFileSync(join(folder, `${page}.md`), 'utf8');
  const sample = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(text)?.[1];
  if (sample === undefined) throw new Error(`${page}.md contains no program in ${language}`);
  return sample;
}

/** Opens the address that a browser is sent to. A program may listen there only after it has printed where to sign in. */
export const fetchPatiently = (address: URL): Promise<Response> =>
  waitFor(() => fetch(address).catch(() => undefined), { what: 'the callback of the program' });
