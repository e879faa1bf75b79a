import type { Prisma } from '../../resources.js';
import type { ProviderClients } from './clients.js';
import { providerNotFound } from './errors.js';
import { toProviderFault } from './faults.js';
import { findProvider } from './queries.js';
import type { ProviderTest } from './schemas.js';

/** Looks at the provider of the organisation now. The client's own data is tried by the first sign-in only. @throws AppError 404. */
export type TestProvider = (orgId: string) => Promise<ProviderTest>;

export const createTestProvider =
  ({ prisma, clients }: { readonly prisma: Prisma; readonly clients: ProviderClients }): TestProvider =>
  async (orgId) => {
    const provider = await findProvider(prisma, orgId);
    if (!provider) throw providerNotFound();
    try {
      const configuration = await clients.discover(provider);
      const { authorization_endpoint: authorizationEndpoint = '' } = configuration.serverMetadata();
      return { isUsable: true, authorizationEndpoint };
    } catch (error) {
      const { kind, status } = toProviderFault(error);
      return { isUsable: false, fault: kind, ...(status !== undefined && { status }) };
    }
  };
