import { invalidCredential, standardAuthErrors } from '@platform/auth';
import { type Clock, validationError } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { readAllowList } from '../../credentials/allow-lists/ranges.js';
import type { Caller } from '../../base/caller/actor.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import type { Prisma } from '../../resources.js';
import { findAdministrators } from '../../members/smtp/queries.js';
import { describeCreation, describeManyCreations } from '../../mails/alerts/alerts.js';
import { ALERTS_PER_HOUR, limitAlert, type LimitedAlert } from '../../mails/alerts/limited-alerts.js';
import { limitExpiry, type TokenPolicy } from '../policy/policy.js';
import { tokenAlreadyRotated } from './errors.js';
import { type ExpiryDays, grantExpiry } from './grant.js';
import { type InsertOutcome, insertToken, type NewToken, type TokenOwner } from './insert.queries.js';
import { type MintDeps, mintToken } from './mint.js';
import type { Token } from './schemas.js';

export interface IssueDeps extends MintDeps {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly clock: Clock;
  readonly outbox: Outbox;
}

/** The properties of a new token, whose scopes are known to be grantable. */
export interface TokenRequest {
  readonly owner: TokenOwner;
  /** Set when the owner is a service account. */
  readonly accountName?: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly scopes: readonly string[];
  readonly expiryDays: ExpiryDays | undefined;
  readonly allowList: readonly string[] | undefined;
}

export type CreatedToken = Token & { readonly accessToken: string };

function assertCreated(outcome: InsertOutcome): void {
  if (outcome === 'ended') throw invalidCredential(standardAuthErrors);
  if (outcome === 'rotated') throw tokenAlreadyRotated();
  if (outcome === 'outside of the allow list')
    throw validationError([
      { field: 'allowList', message: 'must lie within the allow list of the token that creates this one' },
    ]);
}

/** Returns the alert about a new token: to its owner, or to the administrators for a service account, which reads none. */
async function composeAlert(
  { prisma, outbox }: Pick<IssueDeps, 'prisma' | 'outbox'>,
  caller: Caller,
  { owner, createdAt, expiresAt, ...token }: NewToken,
  accountName: string | undefined,
): Promise<LimitedAlert> {
  const recipients = owner.isServiceAccount ? await findAdministrators(prisma, caller.orgId) : [owner];
  return limitAlert(outbox, {
    topic: owner.isServiceAccount ? 'account-token-created' : 'token-created',
    causedBy: owner.isServiceAccount ? caller.orgId : owner.id,
    recipients: recipients.map(({ id }) => id),
    tokenOwnerId: owner.isServiceAccount ? null : owner.id,
    alert: describeCreation(token, expiresAt, { accountName, creator: caller }),
    summary: describeManyCreations(ALERTS_PER_HOUR, accountName),
    client: caller.client,
    isMerged: true,
    at: createdAt,
  });
}

/**
 * Signs and stores a token within the policy.
 *
 * @throws AppError 400 for the expiry or the allow list; 401 when the caller's credential has ended since it was
 *   verified; 409 when it is a token that has been rotated.
 */
export async function issueToken(
  { pool, prisma, clock, outbox, ...mint }: IssueDeps,
  caller: Caller,
  policy: TokenPolicy,
  { owner, accountName, name, description, scopes, expiryDays, allowList }: TokenRequest,
): Promise<CreatedToken> {
  const now = clock();
  const granted = grantExpiry(caller, expiryDays, now);
  const expiresAt = limitExpiry(policy, { expiresAt: granted, isRequested: expiryDays !== undefined, now });
  const { orgId } = caller;
  const id = uuidv7();
  const ownerId = owner.id;
  const { accessToken, ...minted } = await mintToken(mint, { id, orgId, ownerId, scopes, now, expiresAt });
  const createdAt = new Date(now);
  const expiry = expiresAt === null ? null : new Date(expiresAt);
  const row = {
    id,
    orgId,
    owner,
    name,
    description: description ?? null,
    allowList: readAllowList(allowList ?? []),
    scopes,
    ...minted,
    createdAt,
    expiresAt: expiry,
  };
  const alert = await composeAlert({ prisma, outbox }, caller, row, accountName);
  assertCreated(await insertToken(pool, row, caller, alert));
  outbox.wake();
  return {
    id,
    name,
    scopes: [...scopes],
    lastUsedAt: null,
    usedScopes: [],
    createdAt: createdAt.toISOString(),
    expiresAt: expiry?.toISOString() ?? null,
    parentId: caller.kind === 'pat' ? caller.credentialId : null,
    accessToken,
  };
}
