import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Two rules of the linter (OPS-50): who may read the time, and who may set a timer. Code that reads the time itself cannot be
 * tested over a year, and a timer that waits for a time of day is wrong once the clock is set or the process restarts: what
 * happens then is a row that is compared with the clock.
 *
 * What may do so is named here, with the reason. A file that no longer does is reported as well.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Tests wait for the real programs that they start; the others run beside the product, or are replaced with the browser's clock. */
const PROGRAMS = {
  'packages/bench/': 'measures',
  'packages/config/': 'shows the progress of commands',
  'packages/console/': 'tests set the clock of the browser',
  'packages/crawl-worker/': 'stands alone, beside a source, and counts from the clock of the platform',
  'packages/demo-connector/': 'an example that stands alone',
  'packages/demo-knowledge/': 'an example that stands alone',
  'packages/e2e/': 'measures, and breaks things',
  'packages/embedded/': 'starts programs of others',
  'packages/local/': 'starts the platform on one machine',
  'packages/release/': 'writes when a release was made',
  'packages/testing/': 'waits for what tests start',
};
const TESTS = /\/test\/|\.test\.tsx?$/;

/** Each also knows how to be given another clock. */
const READERS = {
  'packages/service-kit/src/clock.ts': 'the clock that a service is started with',
  'packages/service-kit/src/telemetry/logging.ts': 'the time of a log line is that of the machine',
};

const TRIES_AGAIN = 'pauses before it tries again';
const POLLS = 'pauses before it looks again';
const LIMITS = 'limits how long something takes';
const GATHERS = 'waits some milliseconds for more to come';
const TIMERS = {
  'packages/auth/src/identity-caller.ts': LIMITS,
  'packages/auth/src/published-keys.ts': POLLS,
  'packages/clients/src/platform-client.ts': LIMITS,
  'packages/events/src/consumer.ts': TRIES_AGAIN,
  'packages/events/src/positions.ts': GATHERS,
  'packages/events/src/relay/loop.ts': GATHERS,
  'packages/events/src/relay/partition-batch.ts': LIMITS,
  'packages/events/src/relay/wake-signal.ts': POLLS,
  'packages/file-text/src/reader.ts': POLLS,
  'packages/service-kit/src/concurrency/batcher.ts': GATHERS,
  'packages/service-kit/src/concurrency/periodic-task.ts': 'the rounds of every job',
  'packages/service-kit/src/data/apply-migration.ts': TRIES_AGAIN,
  'packages/service-kit/src/data/connect-at-start.ts': TRIES_AGAIN,
  'packages/service-kit/src/data/migrations.ts': POLLS,
  'packages/service-kit/src/http/body/body-timeout.ts': LIMITS,
  'packages/service-kit/src/http/close-server.ts': LIMITS,
  'packages/service-kit/src/http/health.ts': LIMITS,
  'packages/service-kit/src/process/await-identity.ts': POLLS,
  'packages/service-kit/src/process/serve.ts': 'lets gateways notice the end',
  'packages/service-kit/src/shutdown.ts': LIMITS,
  'services/crawl/src/api/work/waiting-workers.ts': LIMITS,
  'services/crawl/src/db/work-listener.ts': TRIES_AGAIN,
  'services/crawl/src/engine/attempt-timer.ts': LIMITS,
  'services/crawl/src/engine/dispatcher.job.ts': 'wakes for what is due within the second; the row decides',
  'services/crawl/src/engine/progress.ts': GATHERS,
  'services/crawl/src/engine/retry-transient.ts': TRIES_AGAIN,
  'services/crawl/src/engine/tasks/http-task.ts': POLLS,
  'services/crawl/src/queue/throttled-backend.ts': TRIES_AGAIN,
  'services/crawl/src/workers.ts': LIMITS,
  'services/identity/src/mcp/endpoint/event-stream.ts': 'keeps a connection open',
  'services/identity/src/mcp/endpoint/wait-for-run.ts': POLLS,
  'services/identity/src/mcp/servers/upstream/allowance.ts': LIMITS,
  'services/identity/src/mcp/servers/upstream/oauth/renewals.ts': POLLS,
  'services/mail/src/features/delivery/connect.ts': LIMITS,
  'services/mail/src/features/delivery/deliver.ts': LIMITS,
  'services/mail/src/features/emails/replay.ts': POLLS,
  'services/mail/src/features/queue/dispatcher.job.ts': LIMITS,
  'services/mail/src/features/queue/journal.ts': TRIES_AGAIN,
  'services/mail/src/features/queue/slots.ts': LIMITS,
  'services/mail/src/features/queue/upkeep.job.ts': TRIES_AGAIN,
  'services/mail/src/features/smtp-oauth/tokens.ts': POLLS,
};

const GLOBALS = new Set(['globalThis', 'window', 'self']);
const TIMER_NAMES = new Set(['setTimeout', 'setInterval']);
const TIMER_MODULES = new Set(['timers', 'node:timers', 'timers/promises', 'node:timers/promises']);

const isNamed = (node, names) => node.type === 'Identifier' && names.has(node.name);
const isDate = (node) => isNamed(node, new Set(['Date']));

/**
 * Creates a rule.
 *
 * @param find - returns the visitors, which call `report` with what may only be in the named files.
 */
const createRule = (named, message, find) => ({
  create(context) {
    const path = relative(root, context.filename).replaceAll('\\', '/');
    if (TESTS.test(path) || Object.keys(PROGRAMS).some((folder) => path.startsWith(folder))) return {};
    let isUsed = false;
    const report = (node) => {
      isUsed = true;
      if (!Object.hasOwn(named, path)) context.report({ node, message });
    };
    return {
      ...find(report),
      'Program:exit'(node) {
        if (Object.hasOwn(named, path) && !isUsed)
          context.report({
            node,
            message: 'packages/config/clock-rules.mjs need not name this file any more.',
          });
      },
    };
  },
});

export default {
  meta: { name: 'clock' },
  rules: {
    'no-direct-time': createRule(
      READERS,
      'Take the time from the clock that is passed to it (`clock`, `now`), so that a test can set it; for a duration, from `performance.now()`.',
      (report) => ({
        MemberExpression(node) {
          if (isDate(node.object) && isNamed(node.property, new Set(['now']))) report(node);
        },
        NewExpression(node) {
          if (isDate(node.callee) && node.arguments.length === 0) report(node);
        },
        CallExpression(node) {
          if (isDate(node.callee)) report(node);
        },
      }),
    ),
    'no-direct-timer': createRule(
      TIMERS,
      'Store when something is due, and compare it with the clock; for rounds use `createPeriodicTask`. Who waits a moment is named in packages/config/clock-rules.mjs.',
      (report) => ({
        CallExpression(node) {
          if (isNamed(node.callee, TIMER_NAMES)) report(node);
        },
        MemberExpression(node) {
          if (isNamed(node.object, GLOBALS) && isNamed(node.property, TIMER_NAMES)) report(node);
        },
        ImportDeclaration(node) {
          if (!TIMER_MODULES.has(node.source.value)) return;
          for (const specifier of node.specifiers)
            // The next turn of the event loop is no time.
            if (specifier.type !== 'ImportSpecifier' || specifier.imported.name !== 'setImmediate')
              report(specifier);
        },
      }),
    ),
  },
};
