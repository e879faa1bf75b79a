/** The options that the platform is started with: flags first, then the environment, then defaults. */
export interface Options {
  /** Port and address of the gateway. */
  readonly port: number;
  readonly host: string;
  /** The ports of the SMTP server that catches the mail and of the page that shows it; both listen on loopback. */
  readonly smtpCatcherPort: number;
  readonly inboxPort: number;
  /** Base URL without a slash at the end. */
  readonly publicUrl: string;
  /** Absolute. */
  readonly dataDir: string;
  readonly isFresh: boolean;
  /** The address of the first administrator; it has an effect at the first start only. */
  readonly adminEmail?: string;
  /** The password of the first administrator; generated and stored when absent. */
  readonly adminPassword?: string;
  /** The server to use instead of the embedded one. */
  readonly databaseUrl?: string;
  /** Start a Redis or Valkey for crawl's queues. */
  readonly isRedisEmbedded: boolean;
  /** The Redis of crawl's queues; without one, PostgreSQL keeps them. */
  readonly redisUrl?: string;
  /** Comma-separated; without one, sync events stay in the feed. */
  readonly kafkaBrokers?: string;
  /** The sources of the demo: a folder, absolute, and a Git repository by path or URL. Absent with --no-demo. */
  readonly demo?: {
    readonly folder: string;
    readonly repository: string | undefined;
    /** Whether the folder is the one of this repository. */
    readonly isDefault: boolean;
  };
  /** Proxies in front of the gateway that end TLS; only these are believed about the client. */
  readonly trustedProxies: readonly string[];
  readonly logLevel: string;
  /** All other variables of the launcher's environment, which the services receive unchanged. */
  readonly environment: Readonly<NodeJS.ProcessEnv>;
}

/** A fault of the flags or the environment, worth one line. */
export class OptionsError extends Error {}

export const HELP: string;

/** @throws OptionsError naming every fault */
export function parseOptions(args: readonly string[], environment: NodeJS.ProcessEnv): Options | 'help';
