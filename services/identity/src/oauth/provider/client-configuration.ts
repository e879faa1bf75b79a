import type { Clock } from '@platform/service-kit';
import { type Configuration, errors } from 'oidc-provider';
import { applyClientRules, omitAbsent } from './client-rules.js';
import { type FetchDocument, MAX_DOCUMENT_BYTES } from './document-fetch.js';
import { MAX_ASSERTION_SECONDS } from './lifetimes.js';

export interface ClientConfigurationDeps {
  /** The hosts whose documents describe clients. */
  readonly clientHosts: readonly string[];
  /** Returns whether an organisation has added the host. */
  readonly isAddedHost: (host: string) => Promise<boolean>;
  readonly fetchDocument: FetchDocument;
  /** Whether clients may register themselves (RFC 7591). */
  readonly isRegistrationOpen: boolean;
  readonly clock: Clock;
}

/** Returns whether the document is at a listed host, or at a host that an organisation has added, on the default port. */
async function isAllowedHost(
  { clientHosts, isAddedHost }: Pick<ClientConfigurationDeps, 'clientHosts' | 'isAddedHost'>,
  clientId: string,
): Promise<boolean> {
  const url = URL.parse(clientId);
  if (url === null || url.port !== '') return false;
  return clientHosts.includes(url.hostname) || isAddedHost(url.hostname);
}

/**
 * Creates the configuration of which clients there are, and how they authenticate.
 *
 * @param audiences - the audiences that an assertion of a client may name.
 */
export function createClientConfiguration(deps: ClientConfigurationDeps, audiences: readonly string[]) {
  return {
    clientDefaults: { id_token_signed_response_alg: 'EdDSA' },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    clientBasedCORS: () => true,
    fetch: deps.fetchDocument,
    fetchResponseBodyLimits: { jwks_uri: MAX_DOCUMENT_BYTES, sector_identifier_uri: MAX_DOCUMENT_BYTES },
    extraClientMetadata: {
      // The provider asks only about properties that are named; this one means nothing.
      properties: ['platform_rules'],
      validator(ctx, key, _value, metadata) {
        delete metadata[key];
        // Stored clients were checked when they were registered. A document is read again each time.
        const isDocument = metadata.client_id.startsWith('https:');
        if (isDocument || ctx?.oidc.route === 'registration') applyClientRules(metadata, isDocument);
      },
    },
    // The accepted audiences of the provider come from the Host header (RFC 7523 §3).
    assertJwtClientAuthClaimsAndHeader: (_ctx, { aud, exp }) => {
      if (![aud].flat().every((name) => audiences.some((known) => known === name)))
        throw new errors.InvalidClientAuth('aud must be the issuer or the token endpoint');
      // Each assertion is remembered until it expires, so that it is used only once.
      if (Number(exp) > deps.clock() / 1_000 + MAX_ASSERTION_SECONDS)
        throw new errors.InvalidClientAuth('exp must be at most ten minutes ahead');
    },
    features: {
      registration: {
        enabled: deps.isRegistrationOpen,
        // The provider calls this before it reads the metadata, whose absent fields it would refuse.
        issueRegistrationAccessToken({ oidc }) {
          omitAbsent(oidc.body ?? {});
          return false;
        },
      },
      clientIdMetadataDocument: {
        enabled: deps.clientHosts.length > 0,
        ack: 'draft-02',
        allowFetch: (_ctx, id) => isAllowedHost(deps, id),
        allowClient: (_ctx, client) => isAllowedHost(deps, client.clientId),
      },
    },
  } satisfies Configuration;
}
