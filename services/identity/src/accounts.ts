import type { Clock, Shutdown } from '@platform/service-kit';
import type { IdentityConfig } from './config.js';
import { createAccountFlows } from './features/account-flows/service.js';
import { createAttemptLimits } from './features/attempt-limits/attempt-limits.js';
import { createConfigurationService } from './features/configuration/service.js';
import { createRecordSignIn } from './features/known-devices/service.js';
import { createCodeDigests } from './features/one-time-secrets/secret.js';
import { createOneTimeSecrets, type OneTimeSecrets } from './features/one-time-secrets/service.js';
import { createMailClient } from './features/outgoing-mails/mail-client.js';
import { createOutbox, type Outbox } from './features/outgoing-mails/outbox.js';
import { createPrepare } from './features/outgoing-mails/prepare.js';
import { createSendingJob } from './features/outgoing-mails/sending.job.js';
import { createMailServiceToken } from './features/service-credentials/service.js';
import { createChangeOwnPassword } from './features/own-password/service.js';
import { createFailedSignIns, type FailedSignIns } from './features/sessions/failed-sign-ins.js';
import { createOpenSession } from './features/sessions/open-session.js';
import { createPasswords } from './features/sessions/passwords.js';
import { createSessionService } from './features/sessions/service.js';
import type { SigningKeys, SignJwt } from './features/signing-keys/service.js';
import { SIGN_IN_PATH } from './features/sign-in-pages/paths.js';
import { createUserService } from './features/users/service.js';
import type { Resources } from './resources.js';
import { createSecretBox } from './secret-box.js';

export interface AccountDeps {
  readonly config: Pick<IdentityConfig, 'APP_URL' | 'ENCRYPTION_KEYS' | 'MAIL_URL' | 'PUBLIC_URL'>;
  readonly resources: Resources;
  readonly shutdown: Shutdown;
  readonly clock: Clock;
  readonly keys: SigningKeys;
  readonly signJwt: SignJwt;
}

/** Creates one limiter for each endpoint that is open to everyone. */
function createLimits({ resources: { pool } }: AccountDeps) {
  const message = 'Too many requests: try again later';
  return {
    login: createAttemptLimits(pool, {
      name: 'login',
      perSubject: 100,
      perPair: 10,
      perAddress: 100,
      message: 'Too many failed sign-ins: try again later',
    }),
    // There is no limit per account: anyone could use it up and lock the owner out.
    code: createAttemptLimits(pool, { name: 'code', perPair: 5, perAddress: 50, message }),
    reset: createAttemptLimits(pool, { name: 'reset', perPair: 5, perAddress: 50, message }),
    // The subject is the link: as long as its token is wrong, no account is known.
    link: createAttemptLimits(pool, { name: 'link', perSubject: 10, perPair: 10, perAddress: 50, message }),
  };
}

/** Starts the job that sends mails in the background. Without a mail service, no mail is stored. */
function startOutbox(deps: AccountDeps, secrets: OneTimeSecrets): Outbox {
  const { config, resources, shutdown, clock } = deps;
  const { prisma, log } = resources;
  const box = createSecretBox(config.ENCRYPTION_KEYS);
  if (config.MAIL_URL === undefined) {
    log.warn('MAIL_URL is not set: invitations, codes and password links cannot be sent');
    return createOutbox(undefined, box);
  }
  const links = { appUrl: config.APP_URL, pagesUrl: config.PUBLIC_URL + SIGN_IN_PATH };
  const job = createSendingJob({
    prisma,
    prepare: createPrepare({ prisma, secrets, box, links }),
    send: createMailClient({
      mailUrl: config.MAIL_URL,
      serviceToken: createMailServiceToken({ ...deps, prisma }),
    }),
    clock,
    log,
  });
  job.start();
  shutdown.on('workers', 'outgoing mails', job.stop);
  return createOutbox(job.wake, box);
}

/** Starts the recorder that writes failed sign-ins to the audit. */
function startFailedSignIns({ resources, shutdown, clock }: AccountDeps): FailedSignIns {
  const failures = createFailedSignIns({ pool: resources.pool, clock, log: resources.log });
  failures.start();
  shutdown.on('flush', 'failed sign-ins', failures.stop);
  return failures;
}

/** Wires members, sign-ins, the mails that both send, and the SMTP configuration. */
export function createAccounts(deps: AccountDeps) {
  const { config, clock, keys, signJwt } = deps;
  const { prisma } = deps.resources;
  const passwords = createPasswords();
  const codeDigests = createCodeDigests(config.ENCRYPTION_KEYS);
  const secrets = createOneTimeSecrets({
    prisma,
    codeDigests,
    box: createSecretBox(config.ENCRYPTION_KEYS),
    clock,
  });
  const outbox = startOutbox(deps, secrets);
  const openSession = createOpenSession({ keys, signJwt, clock, recordSignIn: createRecordSignIn(outbox) });
  const { login, ...limits } = createLimits(deps);
  const failures = startFailedSignIns(deps);
  const common = { prisma, passwords, secrets, outbox, openSession, clock };
  return {
    outbox,
    configuration: createConfigurationService({
      prisma,
      box: createSecretBox(deps.config.ENCRYPTION_KEYS),
      outbox,
      clock,
    }),
    users: createUserService({ prisma, passwords, outbox, clock }),
    sessions: createSessionService({ ...common, limits: login, failures }),
    changeOwnPassword: createChangeOwnPassword({ ...common, limits: login, failures }),
    flows: createAccountFlows({ ...common, limits }),
  };
}
