import { JWKS_PATH } from '@platform/auth';
import type { App } from '@platform/service-kit';
import { Type } from 'typebox';
import type { SigningKeys } from './service.js';

const Jwks = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Type.String(),
      crv: Type.String(),
      x: Type.String(),
      kid: Type.String(),
      alg: Type.String(),
      use: Type.String(),
    }),
  ),
});

/** Open to everyone: the public keys as a JWKS (RFC 7517 §5). */
export function signingKeyRoutes(app: App, keys: Pick<SigningKeys, 'jwks'>): void {
  app.get(
    JWKS_PATH,
    {
      schema: {
        operationId: 'getSigningKeys',
        tags: ['Keys'],
        summary: 'Public signing keys',
        description:
          'A JSON Web Key Set (RFC 7517). A new key is published before it signs, and an old one stays as long as what it has signed.',
        response: { 200: Jwks },
      },
    },
    async (_request, reply) =>
      // Caches must expire well within the activation delay of a new key.
      reply.header('cache-control', 'public, max-age=5').send(keys.jwks() as Type.Static<typeof Jwks>),
  );
}
