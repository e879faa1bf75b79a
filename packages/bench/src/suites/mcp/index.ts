import type { Suite } from '../../runner/measurement.js';
import { hostileNeighbour } from './hostile-neighbour.js';
import { memory } from './memory.js';
import { mountedCalls, mountedLists } from './mounts.js';
import { throughput } from './throughput.js';

export const mcpSuite: Suite = {
  name: 'mcp',
  title: 'the remote tool endpoint, against the common pattern and the mounted servers',
  isPinned: true,
  measurements: [throughput, memory, mountedLists, mountedCalls, hostileNeighbour],
};
