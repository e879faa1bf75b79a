import type { Scope } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import type { SigningKeys } from '../credentials/signing-keys/service.js';
import type { Outbox } from '../mails/outbox/outbox.js';
import type { Prisma } from '../prisma.js';

/** The context of the functions of this domain: its connections, clock and configuration. */
export interface TokenContext {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly keys: Pick<SigningKeys, 'mint'>;
  /** The prefix with which tokens are shown. */
  readonly tokenPrefix: string;
  /** The scopes of a token that is created without any. */
  readonly defaultScopes: readonly Scope[];
  /** The number of days for which revoked and expired tokens are shown. */
  readonly historyDays: number;
}
