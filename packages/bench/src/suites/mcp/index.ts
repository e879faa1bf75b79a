import type { Suite, SuiteOptions, SuiteResult } from '../../suite.js';
import { measureMemory } from './memory.js';
import { measureThroughput } from './throughput.js';

const throughputParts = [
  'list_vs_per_request_server',
  'list_vs_echo',
  'call_vs_per_request_server',
  'call_vs_echo',
];
const memoryParts = ['resident_growth'];

async function run(options: SuiteOptions): Promise<SuiteResult> {
  const isWanted = (parts: readonly string[]) =>
    options.only.size === 0 || parts.some((part) => options.only.has(part));
  const results = [
    ...(isWanted(throughputParts) ? [await measureThroughput(options)] : []),
    ...(isWanted(memoryParts) ? [await measureMemory(options)] : []),
  ];
  return {
    figures: results.flatMap(({ figures }) => figures),
    ratios: results.flatMap(({ ratios }) => ratios),
  };
}

export const mcpSuite: Suite = {
  name: 'mcp',
  title: 'the remote tool endpoint, against the common pattern and a bare echo',
  parts: [...throughputParts, ...memoryParts],
  run,
};
