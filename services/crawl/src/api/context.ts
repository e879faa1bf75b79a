import type { Clock, Logger, SecretBox } from '@platform/service-kit';
import type pg from 'pg';
import type { Prisma } from '../db/prisma.js';
import type { NewRun } from '../db/runs.js';
import type { TestResult } from './endpoints/schemas.js';
import type { Endpoint } from '../db/endpoints.js';

/** The endpoints that organisations have registered. */
interface EndpointAccess {
  /** @throws TargetDenied for a URL that the operator does not allow. */
  readonly assertUrl: (url: URL) => void;
  /** Returns a new secret, and it sealed with those that it replaces. @throws AppError 409. */
  readonly createSecrets: (
    id: string,
    replaced?: Endpoint,
  ) => { readonly secret: string; readonly secretsSealed: string };
  /** Sends a request that asks for nothing. @throws AppError 429. */
  readonly test: (endpoint: Endpoint, requestId: string) => Promise<TestResult>;
}

/** What the API acts with. */
export interface ApiContext {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly clock: Clock;
  readonly log: Logger;
  /** Seals the secrets of hooks. */
  readonly box: SecretBox;
  readonly endpoints: EndpointAccess;
  /** How late a run may be before it counts as overdue. */
  readonly overdueGraceMs: number;
  /** How long after the ring of a hook its run is due. */
  readonly hookDelayMs: number;
  /** Called after a committed change with the time at which a schedule becomes due, or its pause ends; epoch ms. */
  readonly onDueAt: (at: number) => void;
  /** Called with a run that can be claimed. */
  readonly onClaimable: (run: NewRun) => void;
}
