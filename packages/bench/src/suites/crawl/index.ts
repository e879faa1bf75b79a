import type { Suite } from '../../runner/measurement.js';
import { backlog } from './backlog.js';
import { latencies } from './latencies.js';
import { memory } from './memory.js';
import { rates } from './rates.js';
import { ticks } from './ticks.js';

export const crawlSuite: Suite = {
  name: 'crawl',
  title: 'schedules, runs and their events, against BullMQ alone',
  isPinned: false,
  measurements: [latencies, rates, ticks, backlog, memory],
};
