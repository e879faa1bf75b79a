import { parseArgs } from 'node:util';
import { systemClock, UsageError } from '@platform/service-kit';
import { validate as isUuid } from 'uuid';
import { withResources } from './command-resources.js';
import {
  liftRequirementByCommand,
  releaseDomainByCommand,
  verifyDomainByCommand,
} from './sign-in/identity-provider/commands.js';
import { readDomain } from './sign-in/identity-provider/domain.js';

const text = { type: 'string' } as const;

export async function runVerifyDomain(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { organisation: orgId, domain } = parseArgs({
    args,
    options: { organisation: text, domain: text },
  }).values;
  if (!orgId || !domain) throw new UsageError('verify-domain needs --organisation and --domain');
  if (!isUuid(orgId)) throw new UsageError('--organisation must be an id');
  await withResources(env, async ({ prisma }) => {
    await verifyDomainByCommand({ prisma, clock: systemClock }, orgId, domain);
    process.stdout.write(`${domain} verified for organisation ${orgId}\n`);
  });
}

export async function runReleaseDomain(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { values } = parseArgs({ args, options: { domain: text } });
  const domain = readDomain(values.domain ?? '');
  if (domain === undefined) throw new UsageError('release-domain needs --domain, such as example.com');
  await withResources(env, async ({ prisma }) => {
    const orgId = await releaseDomainByCommand({ prisma, clock: systemClock }, domain);
    process.stdout.write(`${domain} released from organisation ${orgId}\n`);
  });
}

export async function runLiftRequirement(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { organisation: orgId } = parseArgs({ args, options: { organisation: text } }).values;
  if (!orgId) throw new UsageError('lift-provider-requirement needs --organisation');
  if (!isUuid(orgId)) throw new UsageError('--organisation must be an id');
  await withResources(env, async ({ prisma }) => {
    await liftRequirementByCommand({ prisma, clock: systemClock }, orgId);
    process.stdout.write('members can sign in without the identity provider\n');
  });
}
