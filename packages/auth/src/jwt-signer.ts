import { createPublicKey } from 'node:crypto';
import fastifyJwt, { type JWT } from '@fastify/jwt';
import fastify from 'fastify';
import { SIGNING_ALGORITHM } from './jwt.js';

interface PrivateKey {
  readonly privatePem: string;
  readonly kid: string;
}

async function registerKey({ privatePem, kid }: PrivateKey): Promise<JWT> {
  const app = fastify();
  await app.register(fastifyJwt, {
    secret: {
      private: privatePem,
      public: createPublicKey(privatePem).export({ type: 'spki', format: 'pem' }).toString(),
    },
    sign: { algorithm: SIGNING_ALGORITHM, kid },
  });
  return app.jwt;
}

/**
 * Creates a function that signs claims as a JWT. @fastify/jwt reads the key that it is registered with once, and a key
 * that a call names every time, which takes ten times as long as the signature. So it is registered again, in an
 * application that serves nothing, when the key changes.
 */
export function createJwtSigner() {
  let last: { readonly privatePem: string; readonly jwt: Promise<JWT> } | undefined;
  return async (claims: object, key: PrivateKey): Promise<string> => {
    if (last?.privatePem !== key.privatePem) last = { privatePem: key.privatePem, jwt: registerKey(key) };
    return (await last.jwt).sign(claims);
  };
}
