import { hash, timingSafeEqual } from 'node:crypto';
import { INTROSPECTION_SCOPE } from '@platform/auth';
import { AppError, type Clock } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { ServiceClient } from '../../config.js';
import type { SigningKeys, SignJwt } from '../signing-keys/service.js';

/** Short: a service credential has no liveness, a client that was taken away is out after this. */
const LIFETIME_SECONDS = 300;

/** What each service may do here. Mail also fetches its SMTP configuration. */
const scopesOf = (clientId: string): readonly string[] =>
  clientId === 'mail' ? [INTROSPECTION_SCOPE, 'FETCH_CONFIG'] : [INTROSPECTION_SCOPE];

export interface ServiceToken {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly scope: string;
}

/** @throws AppError 401 `invalid_client` for an unknown pair (RFC 6749 §5.2). */
export type IssueServiceToken = (clientId: string, clientSecret: string) => ServiceToken;

const digest = (value: string): Buffer => hash('sha256', value, 'buffer');

interface Minting {
  readonly keys: SigningKeys;
  readonly signJwt: SignJwt;
  readonly clock: Clock;
}

function mintServiceToken({ keys, signJwt, clock }: Minting, clientId: string, scope: string): string {
  const iat = Math.floor(clock() / 1_000);
  const claims = { sub: clientId, jti: uuidv7(), kind: 'service' as const, scope };
  return keys.mint({ ...claims, iat, exp: iat + LIFETIME_SECONDS }, signJwt).token;
}

/** Identity's own credential at the mail service: it needs no secret for it, and is minted for each mail. */
export const createOwnMailToken = (minting: Minting) => (): string =>
  mintServiceToken(minting, 'identity', 'SEND_MAIL');

export function createServiceCredentials(
  deps: Minting & { readonly clients: readonly ServiceClient[] },
): IssueServiceToken {
  const secrets = new Map(deps.clients.map(({ id, secret }) => [id, digest(secret)]));
  const nobody = digest(uuidv7());
  return (clientId, clientSecret) => {
    // The same work for an unknown client as for a wrong secret.
    const isRight = timingSafeEqual(secrets.get(clientId) ?? nobody, digest(clientSecret));
    if (!isRight)
      throw new AppError({
        status: 401,
        code: 'INVALID_CLIENT',
        message: 'Unknown client or wrong secret',
        headers: { 'www-authenticate': 'Basic realm="platform"' },
      });
    const scope = scopesOf(clientId).join(' ');
    const token = mintServiceToken(deps, clientId, scope);
    return { access_token: token, token_type: 'Bearer', expires_in: LIFETIME_SECONDS, scope };
  };
}
