import type { BoxKey, Clock, Logger } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { Prisma } from '../../prisma.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import type { SigningKeys } from '../../credentials/signing-keys/service.js';
import type { SignedCredential } from '@platform/auth';
import { createAccessTokens } from './access-tokens.js';
import { createAdapters } from './adapter.js';
import { createClientDocuments } from './client-documents.js';
import { isAddedHost, recordSecretUse } from './clients.sql.js';
import { createGrantStore } from './grants.js';
import { isMember } from './grants.sql.js';
import type { FetchDocument } from './document-fetch.js';
import { correctMetadata } from './metadata.js';
import { createProtectedResources } from './protected-resources.js';
import { createProvider } from './provider.js';
import { recordTokens } from './record-tokens.js';
import { revokeTokens } from './revoke-tokens.js';
import { createTokenExchange } from './token-exchange.js';

/** The use of a secret is written once in this time: an application may request many tokens. */
const SECRET_USE_MS = 60_000;
const MAX_SECRETS = 10_000;

export interface OauthDeps {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly keys: SigningKeys;
  readonly publicUrl: string;
  readonly encryptionKeys: readonly BoxKey[];
  readonly clientHosts: readonly string[];
  readonly fetchDocument: FetchDocument;
  readonly isRegistrationOpen: boolean;
  readonly checkSignature: (token: string) => SignedCredential | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Wires the authorization server with its storage. */
export function createOauth(deps: OauthDeps) {
  const { pool, clock, log, publicUrl, encryptionKeys } = deps;
  const resources = createProtectedResources(publicUrl);
  const accessTokens = createAccessTokens(deps);
  const grants = createGrantStore(deps);
  /** The time at which this process last recorded the use of each secret, in milliseconds since the epoch. */
  const secretUses = new LRUCache<string, number>({ max: MAX_SECRETS });
  const provider = createProvider({
    publicUrl,
    resources,
    adapter: createAdapters({ pool, clock, grants }),
    isMember: (userId) => isMember(pool, userId),
    onSecretUsed(clientId, secretHash) {
      const at = clock();
      if (at - (secretUses.get(secretHash) ?? 0) < SECRET_USE_MS) return;
      secretUses.set(secretHash, at);
      recordSecretUse(pool, clientId, secretHash, new Date(at)).catch((error: unknown) => {
        secretUses.delete(secretHash);
        log.warn({ err: error }, 'failed to record the use of a client secret');
      });
    },
    encryptionKeys,
    clientHosts: deps.clientHosts,
    isAddedHost: (host) => isAddedHost(pool, host),
    fetchDocument: createClientDocuments({ fetch: deps.fetchDocument, pool, clock, log }),
    isRegistrationOpen: deps.isRegistrationOpen,
    clock,
    log,
  });
  recordTokens(provider, { pool, accessTokens, resources, log });
  revokeTokens(provider, { pool, clock, grants, checkSignature: deps.checkSignature });
  correctMetadata(provider, publicUrl);
  return {
    provider,
    resources,
    clientHosts: deps.clientHosts,
    exchangeFor: createTokenExchange({ pool, accessTokens, clock }),
  };
}
