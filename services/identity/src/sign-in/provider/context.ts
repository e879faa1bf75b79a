import type { Clock, Logger } from '@platform/service-kit';
import type { Passwords } from '../../base/passwords.js';
import type { AttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import type { Prisma } from '../../prisma.js';
import type { ProviderClients } from '../identity-provider/clients.js';
import type { ToRedirectUri } from '../identity-provider/context.js';
import type { PassFirstFactor } from '../sessions/sign-in-outcome.js';

/** The context of sign-ins with the identity providers of organisations, and of what a sign-in confirms. */
export interface ProviderSignInContext {
  readonly prisma: Prisma;
  readonly passwords: Passwords;
  readonly outbox: Outbox;
  readonly clients: ProviderClients;
  readonly toRedirectUri: ToRedirectUri;
  readonly passFirstFactor: PassFirstFactor;
  readonly limits: AttemptLimits;
  readonly clock: Clock;
  readonly log: Logger;
}
