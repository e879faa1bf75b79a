import type { Clock, Egress, SecretBox } from '@platform/service-kit';
import type { Outbox } from '../../mails/outbox/outbox.js';
import type { Prisma } from '../../prisma.js';
import type { ProviderClients } from './clients.js';
import type { ResolveTxt } from './dns.js';

/**
 * Returns where the provider of an organisation sends browsers back to. Each organisation has its own address, so that an answer
 * of one is never taken for that of another (mix-up, RFC 9700 §4.4.2.2): not every provider names itself with `iss`.
 */
export type ToRedirectUri = (orgId: string) => string;

/** The context of the settings of identity providers, their domains, and the connections of members. */
export interface IdentityProviderContext {
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly egress: Egress;
  readonly outbox: Outbox;
  readonly clients: ProviderClients;
  readonly toRedirectUri: ToRedirectUri;
  readonly resolveTxt: ResolveTxt;
  readonly clock: Clock;
}
