import { createTokenBuckets, type App, createHostResolver, type Shutdown } from '@platform/service-kit';
import { toNetwork } from '../../base/network.js';
import { createDocumentFetch, type FetchDocument } from './document-fetch.js';
import { createRegistrationLimit } from './registration-limit.js';
import type { RecordStep } from '../attempts/feature.js';
import type { AttemptJournal } from '../attempts/journal.js';
import { recordProviderSteps } from './record-steps.js';
import { createMount, oauthMetadataRoutes, oauthRoutes } from './routes.js';
import { createOauth, type OauthDeps } from './service.js';

/** The requests of one network, at each replica: an organisation may share an address. */
const REQUESTS_PER_MINUTE = 600;

export type OauthSettings = Pick<
  OauthDeps,
  'publicUrl' | 'encryptionKeys' | 'clientHosts' | 'isRegistrationOpen'
>;

/** Opens the fetch of clients' documents, which reaches public addresses only. */
function openDocumentFetch(shutdown: Shutdown): FetchDocument {
  const documents = createDocumentFetch(createHostResolver());
  shutdown.on('close', 'document fetch', documents.close);
  return documents.fetch;
}

/** Registers the authorization server and its metadata. */
export function registerOauth(
  app: App,
  deps: Omit<OauthDeps, 'fetchDocument' | 'checkSignature'> & {
    /** Replaces the fetch of clients' documents. Tests set it. */
    readonly fetchDocument: FetchDocument | undefined;
    readonly journal: Pick<AttemptJournal, 'record'>;
    readonly recordStep: RecordStep;
    readonly shutdown: Shutdown;
  },
): ReturnType<typeof createOauth> {
  const { pool, publicUrl, isRegistrationOpen, recordStep, clock, shutdown } = deps;
  const fetchDocument = deps.fetchDocument ?? openDocumentFetch(shutdown);
  const oauth = createOauth({ ...deps, checkSignature: app.checkSignature, fetchDocument });
  recordProviderSteps(oauth.provider, deps.journal);
  const mount = createMount(oauth.provider, publicUrl);
  const countRequest = createTokenBuckets(REQUESTS_PER_MINUTE, clock);
  oauthRoutes(app, mount, {
    count: (address) => {
      countRequest(toNetwork(address, { ipv4: 32, ipv6: 64 }));
    },
    countRegistration: isRegistrationOpen ? createRegistrationLimit(pool) : undefined,
    recordStep,
  });
  oauthMetadataRoutes(app, mount, recordStep);
  return oauth;
}
