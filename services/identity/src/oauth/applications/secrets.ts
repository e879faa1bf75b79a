import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../../prisma.js';
import type { Caller } from '../../base/caller/actor.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import { toSecretHash } from '../provider/client-metadata.js';
import { type ApplicationContext, requireApplication } from './application.js';
import { noSecrets, secretNotFound, tooManySecrets } from './errors.js';
import { insertSecret, revokeSecret } from './queries.js';
import type { Application } from './schemas.js';

/** Two, so that an application can change from one to the next without an interruption. */
const MAX_SECRETS = 2;

export interface CreatedSecret {
  readonly secret: Application['secrets'][number];
  /** The value, which only this once is not hashed. */
  readonly clientSecret: string;
}

const generateSecret = (): string => randomBytes(32).toString('base64url');

/** Stores a new secret of an application, as its hash. */
export async function addSecret(tx: Transaction, clientId: string, createdAt: Date): Promise<CreatedSecret> {
  const clientSecret = generateSecret();
  const id = uuidv7();
  await insertSecret(tx, { id, clientId, secretHash: toSecretHash(clientSecret), createdAt });
  return { secret: { id, createdAt: createdAt.toISOString(), lastUsedAt: null }, clientSecret };
}

/** Adds a second secret beside the first. @throws AppError 404; 409 when there are two, or none can be used. */
export function createSecret(
  ctx: ApplicationContext,
  caller: Caller,
  clientId: string,
): Promise<CreatedSecret> {
  return changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const { secrets, authMethod } = await requireApplication(tx, caller.orgId, clientId);
    if (authMethod !== 'client_secret_basic') throw noSecrets();
    if (secrets.length >= MAX_SECRETS) throw tooManySecrets();
    const created = await addSecret(tx, clientId, at);
    const detail = { secretId: created.secret.id };
    await record({ action: 'application.secret_created', subjectId: clientId, detail });
    return created;
  });
}

/** Revokes a secret: nobody authenticates with it from then on. Its tokens live for ten minutes at most; disabling
 * the application ends them. @throws AppError 404. */
export function revokeClientSecret(
  ctx: ApplicationContext,
  caller: Caller,
  clientId: string,
  secretId: string,
): Promise<void> {
  return changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    await requireApplication(tx, caller.orgId, clientId);
    if (!(await revokeSecret(tx, clientId, secretId, at))) throw secretNotFound();
    await record({ action: 'application.secret_revoked', subjectId: clientId, detail: { secretId } });
  });
}
