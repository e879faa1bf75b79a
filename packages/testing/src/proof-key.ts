import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export interface ProofRequest {
  readonly method: string;
  readonly url: string;
  /** The access token that the proof is for; absent at the token endpoint. */
  readonly token?: string;
}

/** Creates a key of a client, and signs proofs of possession with it (DPoP, RFC 9449 §4.2). */
export function createProofKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  return {
    publicJwk: jwk,
    privateJwk: privateKey.export({ format: 'jwk' }),
    /** @param claims - replace those of a right proof. @param header - likewise. */
    prove({ method, url, token }: ProofRequest, claims: object = {}, header: object = {}): string {
      const signed = [
        { typ: 'dpop+jwt', alg: 'ES256', jwk, ...header },
        {
          jti: randomUUID(),
          iat: Math.floor(Date.now() / 1_000),
          htm: method,
          htu: url,
          ...(token !== undefined && { ath: createHash('sha256').update(token).digest('base64url') }),
          ...claims,
        },
      ]
        .map(encode)
        .join('.');
      const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      return `${signed}.${signature.toString('base64url')}`;
    },
  };
}
export type ProofKey = ReturnType<typeof createProofKey>;
