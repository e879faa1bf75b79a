import { fileURLToPath } from 'node:url';

/** What a service is started with, beyond what every service gets. */
export interface ServiceContext {
  readonly encryptionKeys: string;
  readonly adminEmail: string;
  readonly adminPassword: string | undefined;
}

/** How a client of the service expects an error that the gateway gives in its place. */
export type ErrorShape = 'standard' | 'crawl';

/** One service of the platform: everything that the launcher and the gateway know about it. */
export interface ServiceDefinition {
  /** Also the name of its database, its log and its documentation. */
  readonly name: string;
  /** Folder with `dist/server.js` and `dist/cli.js`. */
  readonly directory: string;
  /** Paths that the gateway gives to it, each with everything below. */
  readonly prefixes: readonly string[];
  readonly errorShape: ErrorShape;
  env(context: ServiceContext): Readonly<Record<string, string>>;
}

const directoryOf = (name: string): string =>
  fileURLToPath(new URL(`../../../services/${name}`, import.meta.url));

/** In the order in which they start. */
export const SERVICES: readonly ServiceDefinition[] = [
  {
    name: 'identity',
    directory: directoryOf('identity'),
    prefixes: [
      '/api/v1/auth',
      '/api/v1/users',
      '/api/v1/personal-access-tokens',
      '/api/v1/configurationManager',
      '/api/v1/oauth2',
      '/api/v1/audit',
      '/mcp',
      '/.well-known',
    ],
    errorShape: 'standard',
    env: ({ encryptionKeys, adminEmail, adminPassword }) => ({
      ENCRYPTION_KEYS: encryptionKeys,
      BOOTSTRAP_ADMIN_EMAIL: adminEmail,
      // Without one, identity takes the admin for made: it was, at the first start.
      ...(adminPassword !== undefined && { BOOTSTRAP_ADMIN_PASSWORD: adminPassword }),
    }),
  },
];
