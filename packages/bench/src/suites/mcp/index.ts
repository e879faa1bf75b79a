import type { Suite, SuiteOptions, SuiteResult } from '../../suite.js';
import { measureMounts } from './mounts.js';
import { measureMemory } from './memory.js';
import { measureThroughput } from './throughput.js';

const throughputParts = [
  'list_vs_per_request_server',
  'list_vs_echo',
  'call_vs_per_request_server',
  'call_vs_echo',
];
const mountParts = ['mounted_list_vs_own', 'mounted_call_vs_direct'];
const memoryParts = ['resident_growth'];

async function* run(options: SuiteOptions): AsyncGenerator<SuiteResult> {
  const isWanted = (parts: readonly string[]) =>
    options.only.size === 0 || parts.some((part) => options.only.has(part));
  if (isWanted(throughputParts)) yield await measureThroughput(options);
  if (isWanted(mountParts)) yield* measureMounts(options);
  if (isWanted(memoryParts)) yield await measureMemory(options);
}

export const mcpSuite: Suite = {
  name: 'mcp',
  title: 'the remote tool endpoint, against the common pattern and a bare echo',
  parts: [...throughputParts, ...mountParts, ...memoryParts],
  run,
};
