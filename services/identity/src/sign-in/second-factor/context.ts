import type { Clock, SecretBox } from '@platform/service-kit';
import type { AttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import type { SigningKeys } from '../../credentials/signing-keys/service.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import type { Prisma } from '../../prisma.js';
import type { RelyingParty } from '../passkeys/relying-party.js';
import type { FailedSignIns } from '../sessions/failed-sign-ins.js';

/** The context of the steps of a sign-in, and of the changes of second factors. */
export interface SecondFactorContext {
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly keys: SigningKeys;
  readonly outbox: Outbox;
  /** Undefined where there can be no passkeys. */
  readonly relyingParty: RelyingParty | undefined;
  /** A guess at a change of the own second factor counts like one at a sign-in. */
  readonly limits: AttemptLimits;
  /** The limits of sign-ins by a passkey alone. */
  readonly passkeyLimits: AttemptLimits;
  readonly failures: Pick<FailedSignIns, 'record'>;
  /** Returns the name of an organisation, which authenticator apps show. */
  readonly findName: (orgId: string) => Promise<string>;
  readonly clock: Clock;
}
