import type { Suite } from './runner/measurement.js';
import { authSuite } from './suites/auth/index.js';
import { consoleSuite } from './suites/console/index.js';
import { crawlSuite } from './suites/crawl/index.js';
import { factsSuite } from './suites/facts/index.js';
import { mailSuite } from './suites/mail/index.js';
import { mcpSuite } from './suites/mcp/index.js';
import { scaleSuite } from './suites/scale/index.js';

export const suites: readonly Suite[] = [
  authSuite,
  mcpSuite,
  mailSuite,
  crawlSuite,
  factsSuite,
  consoleSuite,
  scaleSuite,
];
