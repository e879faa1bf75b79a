import { type AgeReport, toAgeReports } from '../../facts/age-words.js';
import type { CrawlAge } from '../../facts/crawl-ages.js';
import type { PassedResult } from '../endpoint/tool-result.js';

/*
 * An answer knows its age: a server that is mounted with the connectors that it serves has in each result when they were last
 * crawled, and in words what a model should pass on. [MCP-42]
 */

export const AGES_META_KEY = 'workspace-knowledge-platform/crawls';

/** Pauses are an administrator's decision, and no news. */
const isPassedOn = ({ state }: AgeReport): boolean => state !== 'fresh' && state !== 'paused';

function appendText(content: string, text: string): string {
  const block = JSON.stringify({ type: 'text', text });
  const blocks = content.trim().slice(1, -1).trim();
  return `[${blocks}${blocks === '' ? '' : ','}${block}]`;
}

/** Adds the age of what a server knows to a result. */
export function withAges(
  result: PassedResult,
  connectors: readonly string[],
  known: readonly CrawlAge[],
  now: number,
): PassedResult {
  const reports = toAgeReports(connectors, known, now);
  const words = reports.filter(isPassedOn).map(({ text }) => text);
  const described = reports.map(({ text: _omitted, ...report }) => report);
  return {
    ...result,
    content:
      words.length === 0 || result.isError ? result.content : appendText(result.content, words.join(' ')),
    meta: new Map([...result.meta, [AGES_META_KEY, JSON.stringify(described)]]),
  };
}
