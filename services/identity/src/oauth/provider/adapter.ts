import { type Clock, createBatcher } from '@platform/service-kit';
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type pg from 'pg';
import {
  consumeArtifact,
  consumeRefreshToken,
  deleteArtifact,
  findArtifact,
  hashArtifactId,
  insertArtifact,
  saveArtifact,
} from './artifacts.sql.js';
import { getRotations, isSuperseded, readPayload } from './refresh-rotation.js';
import { toClientMetadata, toRegisteredClient } from './client-metadata.js';
import { findClients, insertRegisteredClient } from './clients.sql.js';
import { ISSUANCE_BATCH } from './issuance-batch.js';

/*
 * The storage of the provider, one adapter for each of its models:
 *
 *   Client                          the table of clients
 *   Grant                           the table of grants, which the consent page writes
 *   RefreshToken                    oauth_artifacts; see refresh-rotation.ts
 *   AccessToken, ClientCredentials  nothing: access tokens are recorded when they are signed
 *   all others                      oauth_artifacts, under the SHA-256 of their secret id
 *
 * The end of a grant ends its codes and refresh tokens, whose rows are kept until they expire: when the end fails, the next
 * use of the same code or token ends the grant.
 */

const nothing: Adapter = {
  upsert: async () => undefined,
  find: async () => undefined,
  findByUserCode: async () => undefined,
  findByUid: async () => undefined,
  consume: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
};

/** The ids of clients: UUIDs, and URLs of documents. */
const CLIENT_ID = /^[\x21-\x7e]{1,2048}$/;

/** The provider's session only ties an interaction to a browser. It must not remember who signed in. */
function toStoredPayload(model: string, { jti: _jti, ...payload }: AdapterPayload): object {
  if (model !== 'Session') return payload;
  const { exp, iat, uid, kind } = payload;
  return { exp, iat, uid, kind };
}

export interface GrantStore {
  /** Finds a grant that has not been revoked, as the provider's payload. */
  find(id: string): Promise<AdapterPayload | undefined>;
  /**
   * Revokes a grant with all of its tokens, because the protocol demands it.
   *
   * @param isByClient - whether the client has asked for it; otherwise a code or token was used again. Default: what the
   *   provider's current request says, which only its own handlers can see.
   */
  end(id: string, isByClient?: boolean): Promise<void>;
}

/** Creates the adapters. */
export function createAdapters(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly grants: GrantStore;
}): (model: string) => Adapter {
  const { pool, clock, grants } = deps;

  const createArtifactAdapter = (model: string): Adapter => ({
    ...nothing,
    async upsert(id, payload, expiresIn = 0) {
      const artifact = {
        model,
        idHash: hashArtifactId(id),
        grantId: payload.grantId ?? null,
        payload: toStoredPayload(model, payload),
        expiresAt: new Date(clock() + expiresIn * 1_000),
      };
      if (model !== 'ReplayDetection') await saveArtifact(pool, artifact);
      // The provider looks first and inserts then; of two that do so at once, one must fail.
      else if (!(await insertArtifact(pool, artifact)))
        throw new errors.InvalidClientAuth('client assertion tokens must only be used once');
    },
    async find(id) {
      const found = await findArtifact(pool, model, hashArtifactId(id));
      if (!found) return undefined;
      const { consumed_at: usedAt } = found;
      const consumedAt = model === 'RefreshToken' && !isSuperseded(found) ? null : usedAt;
      return {
        ...readPayload(found),
        jti: id,
        ...(consumedAt !== null && { consumed: Math.floor(consumedAt.getTime() / 1_000) }),
      };
    },
    async consume(id) {
      const consumed = await consumeArtifact(pool, model, hashArtifactId(id), new Date(clock()));
      if (consumed?.isFirst) return;
      // Another request has used the code in the same moment (RFC 6749 §4.1.2).
      if (consumed?.grantId) await grants.end(consumed.grantId);
      throw new errors.InvalidGrant('authorization code already consumed');
    },
    async destroy(id) {
      const isDeleted = await deleteArtifact(pool, model, hashArtifactId(id));
      // Two requests that resume an authorization at once would both get a code.
      if (!isDeleted && model === 'Interaction')
        throw new errors.SessionNotFound('the authorization request has been resumed');
    },
  });

  const artifacts = createArtifactAdapter('RefreshToken');
  const refreshTokens: Adapter = {
    ...artifacts,
    // The provider destroys a token only when it ends its grant, too.
    destroy: nothing.destroy,
    async consume(id) {
      const found = await findArtifact(pool, 'RefreshToken', hashArtifactId(id));
      const use = {
        idHash: hashArtifactId(id),
        rotations: found ? getRotations(found) : 0,
        at: new Date(clock()),
      };
      if (!found || !(await consumeRefreshToken(pool, use)))
        throw new errors.InvalidGrant('refresh token already used');
    },
  };

  /** Requests of the same moment share a statement. */
  const findClient = createBatcher({
    toKey: (id: string) => id,
    load: (ids) => findClients(pool, ids),
    ...ISSUANCE_BATCH,
  });

  const clients: Adapter = {
    ...nothing,
    // The provider stores only clients that have registered themselves.
    async upsert(id, metadata) {
      await insertRegisteredClient(pool, toRegisteredClient(id, metadata, new Date(clock())));
    },
    async find(id) {
      // Anyone can send any text as a client id, and PostgreSQL refuses some.
      if (!CLIENT_ID.test(id)) return undefined;
      const row = await findClient(id);
      // The provider reads the document of a client itself.
      return row && row.kind !== 'document' ? toClientMetadata(row) : undefined;
    },
  };

  const grantAdapter: Adapter = {
    ...nothing,
    find: (id) => grants.find(id),
    destroy: (id) => grants.end(id),
  };

  return (model) => {
    if (model === 'Client') return clients;
    if (model === 'Grant') return grantAdapter;
    if (model === 'RefreshToken') return refreshTokens;
    return model === 'AccessToken' || model === 'ClientCredentials' ? nothing : createArtifactAdapter(model);
  };
}
