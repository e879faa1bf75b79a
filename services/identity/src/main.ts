import { fileURLToPath } from 'node:url';
import { defineService, systemClock } from '@platform/service-kit';
import { buildIdentity } from './app.js';
import { type IdentityConfig, loadIdentityConfig } from './config.js';
import { bootstrapOrganisation, hasNoOrganisation } from './commands/organisations.js';
import { createPasswords } from './base/passwords.js';
import { openResources, type Resources } from './resources.js';

const consoleFolder = fileURLToPath(new URL('../node_modules/@platform/console/dist', import.meta.url));

/**
 * Creates the organisation and its administrator on the first start. Once there is an organisation, the BOOTSTRAP_
 * variables have no effect.
 */
async function bootstrap(config: IdentityConfig, { prisma, log }: Resources): Promise<void> {
  const organisations = {
    prisma,
    passwords: createPasswords(),
    clock: systemClock,
  };
  if (!(await hasNoOrganisation(organisations))) return;
  const { BOOTSTRAP_ADMIN_EMAIL: adminEmail, BOOTSTRAP_ADMIN_PASSWORD: adminPassword } = config;
  if (adminEmail === undefined || adminPassword === undefined) {
    log.warn(
      'there is no organisation yet: set BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD, or run create-organisation',
    );
    return;
  }
  if (
    await bootstrapOrganisation(organisations, { name: config.BOOTSTRAP_ORG_NAME, adminEmail, adminPassword })
  )
    log.info('created the first organisation');
}

export const main = defineService({
  name: 'identity',
  program: import.meta.url,
  loadConfig: loadIdentityConfig,
  openResources,
  async build(deps) {
    await bootstrap(deps.config, deps.resources);
    return buildIdentity({ ...deps, consoleFolder });
  },
});
