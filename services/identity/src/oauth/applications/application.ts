import type { Bounds } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import { findChanges } from '../../audit/changes.js';
import { createDescribeBounds, type DescribeBounds } from '../../credentials/bounds/bounds.js';
import type { Prisma, Transaction } from '../../prisma.js';
import { applicationNotFound } from './errors.js';
import { type ApplicationRow, findApplication } from './queries.js';
import type { ApplicationShape } from './rules.js';
import type { Application } from './schemas.js';

/* The forms of a stored application: for the API, for the rules, and for the audit. */

export interface ApplicationContext {
  readonly prisma: Prisma;
  readonly clock: Clock;
}

/** @throws AppError 404 when the organisation has no such application. */
export async function requireApplication(
  db: Prisma | Transaction,
  orgId: string,
  clientId: string,
): Promise<ApplicationRow> {
  const found = await findApplication(db, orgId, clientId);
  if (!found) throw applicationNotFound();
  return found;
}

const toInstant = (date: Date | null): string | null => date?.toISOString() ?? null;

const toSecret = (row: ApplicationRow['secrets'][number]): Application['secrets'][number] => ({
  id: row.id,
  createdAt: row.createdAt.toISOString(),
  lastUsedAt: toInstant(row.lastUsedAt),
});

const toBounds = ({ bounds }: Pick<ApplicationRow, 'bounds'>): Bounds | null => bounds as Bounds | null;

export const toApplication = (
  { serviceAccount: account, ...row }: ApplicationRow,
  describeBounds: DescribeBounds,
): Application => ({
  clientId: row.id,
  name: row.name,
  grantTypes: row.grantTypes,
  scopes: row.scopes,
  redirectUris: row.redirectUris,
  authMethod: row.authMethod,
  jwks: row.jwks as Application['jwks'],
  secrets: row.secrets.map(toSecret),
  serviceAccount: account && {
    ...account,
    createdAt: account.createdAt.toISOString(),
    lastUsedAt: toInstant(account.lastUsedAt),
  },
  createdAt: row.createdAt.toISOString(),
  lastUsedAt: toInstant(row.lastUsedAt),
  isDisabled: row.disabledAt !== null,
  bounds: describeBounds(toBounds(row)),
});

/** Returns what shows the bounds of applications. */
export const describeBoundsOf = (
  db: Prisma | Transaction,
  orgId: string,
  rows: readonly Pick<ApplicationRow, 'bounds'>[],
): Promise<DescribeBounds> =>
  createDescribeBounds(
    db,
    orgId,
    rows.map((row) => ({ bounds: toBounds(row) })),
  );

export const toShape = (row: ApplicationRow): ApplicationShape => ({
  ...row,
  jwks: row.jwks as ApplicationShape['jwks'],
  role: row.serviceAccount?.role ?? 'member',
  isLimited: row.bounds !== null,
});

/** The fields whose changes the audit keeps, as text. */
const toAudited = (row: ApplicationRow, describeBounds: DescribeBounds) => ({
  name: row.name,
  scopes: row.scopes.join(' '),
  redirectUris: row.redirectUris.join(' '),
  jwks: row.jwks === null ? null : JSON.stringify(row.jwks),
  role: row.serviceAccount?.role ?? null,
  isDisabled: String(row.disabledAt !== null),
  bounds: row.bounds === null ? null : JSON.stringify(describeBounds(toBounds(row))),
});
const auditedFields = ['name', 'scopes', 'redirectUris', 'jwks', 'role', 'isDisabled', 'bounds'] as const;

/** @param before - undefined for a new application. */
export const findApplicationChanges = (
  before: ApplicationRow | undefined,
  after: ApplicationRow,
  describeBounds: DescribeBounds,
) =>
  findChanges(before && toAudited(before, describeBounds), toAudited(after, describeBounds), auditedFields);
