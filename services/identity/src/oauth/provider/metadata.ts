import type OidcProvider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { responseModes } from './authorization-request.js';
import { allScopes } from './protected-resources.js';

/** The members of OpenID Connect discovery, which nothing here implements. */
const unused = [
  'claims_parameter_supported',
  'claims_supported',
  'id_token_signing_alg_values_supported',
  'request_uri_parameter_supported',
  'subject_types_supported',
];

/** Corrects the metadata of the provider: it knows neither the platform's keys, nor that there are no ID tokens. */
export function correctMetadata(provider: OidcProvider, publicUrl: string): void {
  provider.use(async (ctx: KoaContextWithOIDC, next) => {
    await next();
    if (ctx.oidc?.route !== 'discovery' || ctx.status !== 200) return;
    const body = { ...(ctx.body as Record<string, unknown>) };
    for (const name of unused) delete body[name];
    ctx.body = {
      ...body,
      jwks_uri: `${publicUrl}/.well-known/jwks.json`,
      scopes_supported: allScopes,
      response_modes_supported: responseModes,
    };
  });
}
