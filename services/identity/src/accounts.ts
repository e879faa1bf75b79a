import type { App, Clock, SecretBox, Shutdown } from '@platform/service-kit';
import type { Registry } from 'prom-client';
import type { StartJob } from './base/start-job.js';
import type { IdentityConfig } from './config.js';
import { registerAccountFlows } from './sign-in/account-flows/feature.js';
import { createFindOrganisationName } from './members/organisation/names.js';
import { registerPreferences } from './members/preferences.js';
import { registerFactReports } from './facts/report.routes.js';
import { registerConfiguration } from './members/smtp/routes.js';
import { getDomain } from './sign-in/identity-provider/domain.js';
import { findHolder } from './sign-in/identity-provider/queries.js';
import type { ResolveTxt } from './sign-in/identity-provider/dns.js';
import { registerIdentityProvider } from './sign-in/identity-provider/feature.js';
import { registerInvitations } from './members/invitations.js';
import { createCodeDigests } from './mails/one-time-secrets/secret.js';
import { registerOpenSessions } from './sign-in/open-sessions/routes.js';
import { startOutbox } from './mails/outbox/feature.js';
import type { Outbox } from './mails/outbox/outbox.js';
import { ownPasswordRoutes } from './sign-in/password/routes.js';
import { registerProviderSignIn } from './sign-in/provider/feature.js';
import { CALLBACK_PATH } from './sign-in/provider/pages.js';
import { registerSecondFactor } from './sign-in/second-factor/feature.js';
import { passFirstFactor } from './sign-in/second-factor/sign-in.js';
import { createMailServiceToken } from './credentials/service-credentials/service.js';
import { registerSessionConfirmation } from './sign-in/confirmation/feature.js';
import { registerSessions, startSignInAttempts } from './sign-in/sessions/feature.js';
import type { PassFirstFactor } from './sign-in/sessions/sign-in-outcome.js';
import { createPasswords, type Passwords } from './base/passwords.js';
import { SIGN_IN_PATH } from './sign-in/pages/paths.js';
import { signInPageRoutes } from './sign-in/pages/routes.js';
import { registerSignInSettings } from './sign-in/settings/routes.js';
import type { SigningKeys } from './credentials/signing-keys/service.js';
import { registerUsers } from './members/members/routes.js';
import type { Resources } from './resources.js';

export interface AccountDeps extends Resources {
  readonly config: Pick<
    IdentityConfig,
    'APP_URL' | 'ENCRYPTION_KEYS' | 'IDENTITY_PROVIDER_ALLOWED_TARGETS' | 'MAIL_URL' | 'PUBLIC_URL'
  >;
  readonly keys: SigningKeys;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly metrics: Registry;
  readonly startJob: StartJob;
  readonly shutdown: Shutdown;
  readonly resolveTxt?: ResolveTxt | undefined;
  readonly passwords?: Passwords | undefined;
}

/**
 * Registers members, the ways in which they sign in, and the SMTP configuration.
 *
 * @returns the outbox of the mails that these and other features send.
 */
export function registerAccounts(app: App, deps: AccountDeps): Outbox {
  const { config } = deps;
  const { passwords = createPasswords() } = deps;
  const secrets = { ...deps, codeDigests: createCodeDigests(config.ENCRYPTION_KEYS) };
  const links = {
    appUrl: config.APP_URL,
    pagesUrl: config.PUBLIC_URL + SIGN_IN_PATH,
    consoleUrl: config.PUBLIC_URL,
  };
  const outbox = startOutbox({
    ...deps,
    secrets,
    mailUrl: config.MAIL_URL,
    serviceToken: createMailServiceToken(deps),
    links,
  });
  const findOrganisationName = createFindOrganisationName(deps.pool);
  app.decorate('findOrganisationName', findOrganisationName);
  app.decorateReply('organisation', undefined);
  const common = { ...deps, ...startSignInAttempts(deps), passwords, secrets, outbox, findOrganisationName };
  const secondFactor = registerSecondFactor(app, common);
  const signIn = {
    ...common,
    passFirstFactor: (...attempt: Parameters<PassFirstFactor>) => passFirstFactor(secondFactor, ...attempt),
  };
  registerSessions(app, signIn);
  const flows = registerAccountFlows(app, signIn);
  signInPageRoutes(app, {
    secondFactor,
    sessions: signIn,
    flows,
    findOrganisationOf: (email) => findHolder(deps.prisma, getDomain(email.trim().toLowerCase())),
  });
  const provider = {
    ...signIn,
    toRedirectUri: (orgId: string) => `${config.PUBLIC_URL}${CALLBACK_PATH}/${orgId}`,
    allowedTargets: config.IDENTITY_PROVIDER_ALLOWED_TARGETS,
  };
  const clients = registerIdentityProvider(app, provider);
  registerProviderSignIn(app, { ...provider, clients, sessions: signIn });
  registerSignInSettings(app, deps);
  registerOpenSessions(app, deps);
  registerSessionConfirmation(app, common);
  ownPasswordRoutes(app, common);
  registerUsers(app, common);
  registerPreferences(app, common);
  registerInvitations(app, { ...common, links });
  registerConfiguration(app, common);
  registerFactReports(app, common);
  return outbox;
}
