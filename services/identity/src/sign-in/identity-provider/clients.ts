import { createProviderFetch, type Egress, parseUrl, type SecretBox } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  type ServerMetadata,
} from 'openid-client';
import { ProviderFault } from './faults.js';
import type { StoredProvider } from './queries.js';
import { clientSecretContext } from './provider-fields.js';

/** One answer of a provider may take this long in all. */
const TIMEOUT_SECONDS = 10;
const MAX_CONFIGURATIONS = 500;
/** The time for which metadata is cached. Keys are looked up again as soon as one is missing. */
const METADATA_MS = 10 * 60_000;

/** The provider's own choice decides; without one, it is what every provider has to accept (RFC 6749 §2.3.1). */
function authenticate(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server: ServerMetadata, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? [];
    const usesPost = methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
    (usesPost ? post : basic)(server, ...rest);
  };
}

function assertMetadata({ issuer }: StoredProvider, metadata: ServerMetadata): void {
  // The library takes metadata of some providers that have another issuer for each tenant.
  if (new URL(metadata.issuer).href !== new URL(issuer).href) throw new ProviderFault('other_issuer');
  const { authorization_endpoint: endpoint = '', token_endpoint: token, jwks_uri: keys } = metadata;
  const authorization = parseUrl(endpoint);
  if (!authorization || token === undefined || keys === undefined)
    throw new ProviderFault('invalid_metadata');
  // A browser is sent there. Without TLS only where the issuer itself has none, which the operator allows.
  const allowed = issuer.startsWith('http:') ? ['https:', 'http:'] : ['https:'];
  if (!allowed.includes(authorization.protocol)) throw new ProviderFault('invalid_metadata');
}

/** Finds out how to talk to a provider. */
export function createProviderClients({ egress, box }: { readonly egress: Egress; readonly box: SecretBox }) {
  const fetchFromProvider = createProviderFetch(egress);
  const known = new LRUCache<string, Promise<Configuration>>({ max: MAX_CONFIGURATIONS, ttl: METADATA_MS });

  async function discover(provider: StoredProvider): Promise<Configuration> {
    const { orgId, issuer, clientId, clientSecretSealed: sealed } = provider;
    const secret = sealed === null ? undefined : box.open(sealed, clientSecretContext(orgId));
    const execute = [enableNonRepudiationChecks];
    // oxlint-disable-next-line typescript/no-deprecated -- the operator has to allow the target
    if (issuer.startsWith('http:')) execute.push(allowInsecureRequests);
    const configuration = await discovery(new URL(issuer), clientId, {}, authenticate(secret), {
      [customFetch]: fetchFromProvider,
      timeout: TIMEOUT_SECONDS,
      execute,
    });
    assertMetadata(provider, configuration.serverMetadata());
    return configuration;
  }

  return {
    /** Looks at the provider now. */
    discover,

    /** Returns the provider as it was found within the last minutes. */
    get(provider: StoredProvider): Promise<Configuration> {
      const key = provider.revision;
      const found = known.get(key) ?? discover(provider);
      known.set(key, found, { noUpdateTTL: true });
      // A provider that is in trouble is asked again at the next sign-in.
      found.catch(() => {
        if (known.peek(key) === found) known.delete(key);
      });
      return found;
    },
  };
}

export type ProviderClients = ReturnType<typeof createProviderClients>;
