import { hostname } from 'node:os';
import { registerRemoteAuth } from '@platform/auth';
import { startFactSender } from '@platform/events/facts';
import {
  assertWritable,
  createApp,
  createHostResolver,
  createSecretBox,
  reportMissingKeys,
  createTargetPolicy,
  type ResolveHost,
  type SecretBox,
  type ServiceApp,
  type ServiceDeps,
  standardErrors,
  createPermits,
  createTokenBuckets,
} from '@platform/service-kit';
import type { MailConfig } from './config.js';
import { createBrands } from './features/brand/brand.js';
import { brandRoutes } from './features/brand/routes.js';
import { connectionTestRoute } from './features/connection-test/routes.js';
import { testMailRoute } from './features/connection-test/test-mail.routes.js';
import { createTestConnection } from './features/connection-test/service.js';
import { defaultClientName } from './features/delivery/client-name.js';
import { createDeliver } from './features/delivery/deliver.js';
import type { TransportLimits } from './features/delivery/transport-options.js';
import { previewRoute } from './features/emails/preview.routes.js';
import { sendRoutes } from './features/emails/routes.js';
import { createResend } from './features/emails/resend.js';
import { resendRoute } from './features/emails/resend.routes.js';
import { createEmailService } from './features/emails/service.js';
import { createAttemptMail } from './features/emails/queued-mail.js';
import type { QueueTimes } from './features/queue/upkeep.job.js';
import { createCheckQueue } from './features/queue/queue-limit.js';
import { recordRoutes } from './features/records/routes.js';
import { createRecordService } from './features/records/service.js';
import { createManagerClient } from './features/smtp-configuration/manager-client.js';
import { smtpConfigurationRoutes } from './features/smtp-configuration/routes.js';
import { createSmtpConfigurations, type SmtpConfigurations } from './features/smtp-configuration/service.js';
import { suppressionRoutes } from './features/suppressions/routes.js';
import { createSuppressionService } from './features/suppressions/service.js';
import { registerMailMetrics } from './metrics.js';
import type { TokenEndpoints } from './features/smtp-oauth/request-token.js';
import type { Resources } from './resources.js';
import { startWorkers, type Workers } from './workers.js';

export interface MailDeps extends ServiceDeps<MailConfig, Resources> {
  /** Replaces the queue's default times. Tests set it. */
  readonly queueTimes?: QueueTimes;
  /** Replaces the resolver that asks the system's name servers. Tests set it. */
  readonly resolveHost?: ResolveHost;
  /** Replaces the token endpoints of Microsoft and Google. Tests set it. */
  readonly tokenEndpoints?: TokenEndpoints;
}

const toLimits = ({ config, resolveHost = createHostResolver() }: MailDeps): TransportLimits => ({
  clientName: config.SMTP_CLIENT_NAME ?? defaultClientName(config.PUBLIC_URL, hostname()),
  connectionsPerPool: config.SMTP_CONNECTIONS_PER_POOL,
  idleMs: config.SMTP_IDLE_MS,
  timeoutMs: config.SMTP_TIMEOUT_MS,
  resolveHost,
  targets: createTargetPolicy({
    allowed: config.SMTP_ALLOWED_TARGETS,
    denied: config.SMTP_DENIED_TARGETS,
    ports: config.SMTP_ALLOWED_PORTS,
  }),
});

async function createMailApp({ config, resources }: MailDeps): Promise<ServiceApp> {
  const service = await createApp({
    service: 'mail',
    title: 'Mail',
    description: "Template mails through each organisation's own SMTP server.",
    tags: {
      Mail: 'Sending template mails, and previewing them.',
      'Mail records': 'What was sent, what waits, and what failed.',
      'SMTP configuration': "The organisation's SMTP server, as this service uses it.",
      Suppressions: 'Addresses that get no mail, because mail to them bounced or they complained.',
      Brand: "What the organisation's mails look like.",
    },
    errors: standardErrors,
    log: resources.log,
    commit: config.COMMIT,
    trustProxy: config.TRUST_PROXY,
  });
  service.health.checks.set('database', () => assertWritable(resources.pool));
  return service;
}

/** Builds the service without a listener. `main.ts` adds the listener; tests inject requests or listen on a free port. */
export async function buildMail(deps: MailDeps): Promise<ServiceApp> {
  const { config, clock } = deps;
  const limits = toLimits(deps);
  const box = createSecretBox(config.ENCRYPTION_KEYS);
  void reportMissingKeys({
    ...deps.resources,
    keys: config.ENCRYPTION_KEYS,
    sealed: [
      `select sealed_request from mails where state = 'queued'`,
      'select sealed_refresh_token from smtp_tokens',
    ],
  });
  const workers = await startWorkers({ ...deps, limits, box });
  const { identity, upkeep } = workers;
  const service = await createMailApp(deps);
  service.health.checks.set('queue', async () => {
    if (!upkeep.isUp) throw new Error('the queue has not started');
  });
  await registerRemoteAuth(service, { ...deps, ...deps.resources, audience: 'mail', identity });
  const fetch = createManagerClient({
    managerUrl: config.CONFIG_MANAGER_URL,
    serviceToken: identity.serviceToken,
  });
  const configurations = createSmtpConfigurations({ fetch, clock, maxAgeMs: config.SMTP_CONFIG_MAX_AGE_MS });
  await registerRoutes(service, deps, { ...workers, box, configurations, limits });
  startFactSender({ ...deps, ...deps.resources, registry: service.metrics, report: identity.report });
  return service;
}

interface Parts extends Pick<Workers, 'dispatcher' | 'journal' | 'pools' | 'tokens' | 'upkeep'> {
  readonly box: SecretBox;
  readonly configurations: SmtpConfigurations;
  readonly limits: TransportLimits;
}

/** Tests of the connection, and test mails, of one organisation. */
const TESTS_PER_MINUTE = 10;

/** Registers the routes, grouped by the authority that they require. */
async function registerRoutes({ app, metrics }: ServiceApp, deps: MailDeps, parts: Parts): Promise<void> {
  const { config, resources, clock } = deps;
  const { box, configurations, limits, pools, journal, dispatcher, upkeep } = parts;
  const { pool, log } = resources;
  const { SEND_DEADLINE_MS: deadlineMs } = config;
  const deliver = createDeliver(pools, deadlineMs);
  const onOutcome = registerMailMetrics(metrics, { pools, journal, pool, clock, log });
  const sendPermits = createPermits({
    total: config.SENDS_MAX,
    perKey: config.SENDS_PER_ORG_MAX,
    isFair: true,
  });
  const brands = createBrands({ pool, clock });
  const emails = createEmailService({
    brands,
    journal,
    dispatcher,
    deliver,
    clock,
    sendPermits,
    checkQueue: createCheckQueue({
      pool,
      clock,
      maxMails: config.QUEUED_PER_ORG_MAX,
      maxBytes: config.QUEUED_MIB_PER_ORG_MAX * 1_048_576,
    }),
    box,
    onOutcome,
  });
  dispatcher.start(createAttemptMail({ pool, configurations, brands, deliver, box, clock, onOutcome }));
  const runtime = {
    get isUp() {
      return pools.isUp && upkeep.isUp;
    },
  };
  // These routes accept personal access tokens, and credentials of the platform's own services.
  await sendRoutes(app, { emails, configurations, deadlineMs });
  smtpConfigurationRoutes(app, { configurations, runtime });
  // These routes are for administrators.
  recordRoutes(app, createRecordService({ ...resources, box, brands }));
  suppressionRoutes(app, createSuppressionService({ pool, clock }));
  const resend = createResend({ pool, box, emails });
  resendRoute(app, { resend, configurations, deadlineMs });
  previewRoute(app, brands);
  brandRoutes(app, brands);
  const countTest = createTokenBuckets(TESTS_PER_MINUTE, clock, 'Too many connection tests: try again later');
  connectionTestRoute(app, {
    configurations,
    testConnection: createTestConnection(limits, parts.tokens, clock),
    countTest,
  });
  testMailRoute(app, { emails, configurations, countTest, deadlineMs });
}
