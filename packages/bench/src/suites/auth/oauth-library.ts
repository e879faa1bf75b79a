import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import OidcProvider from 'oidc-provider';

/* The baseline: oidc-provider alone with its adapter in memory. It issues tokens of the same form, and stores none. */
const port = Number(process.argv[2]);
const issuer = `http://127.0.0.1:${port}`;
const scope = 'crawl:read user:read';
const { privateKey } = generateKeyPairSync('ed25519');

const provider = new OidcProvider(issuer, {
  clients: [
    {
      client_id: 'bench',
      client_secret: 'bench-secret',
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      scope,
    },
  ],
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'EdDSA', use: 'sig', kid: 'bench' }] },
  enabledJWA: { idTokenSigningAlgValues: ['EdDSA'] },
  clientDefaults: { id_token_signed_response_alg: 'EdDSA' },
  scopes: scope.split(' '),
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => issuer,
      getResourceServerInfo: () => ({
        scope,
        audience: 'bench',
        accessTokenTTL: 600,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'EdDSA', kid: 'bench' } },
      }),
    },
  },
});
const handle = provider.callback();
const server = createServer((request, response) => void handle(request, response));
server.listen(port, '127.0.0.1', () => {
  console.log('ready');
});
