/** What the platform is started with: flags first, then the environment, then defaults. */
export interface Options {
  /** Port and address of the gateway. */
  readonly port: number;
  readonly host: string;
  /** Of the SMTP server that catches the mail, and of the page that shows it; both on loopback. */
  readonly smtpCatcherPort: number;
  readonly inboxPort: number;
  /** Base URL without a slash at the end. */
  readonly publicUrl: string;
  /** Absolute. */
  readonly dataDir: string;
  readonly isFresh: boolean;
  /** Of the first admin; counts at the first start only. */
  readonly adminEmail?: string;
  /** Of the first admin; generated and kept when absent. */
  readonly adminPassword?: string;
  /** The server to use instead of the embedded one. */
  readonly databaseUrl?: string;
  /** Start a Redis or Valkey for crawl's queues. */
  readonly isRedisEmbedded: boolean;
  /** For crawl's queues; without one they are kept in PostgreSQL. */
  readonly redisUrl?: string;
  /** Comma-separated; without one, sync events stay in the feed. */
  readonly kafkaBrokers?: string;
  /** A folder of Markdown files that a demo server makes searchable for agents. Absolute. */
  readonly knowledgeFolder?: string;
  /** Proxies in front of the gateway that end TLS; only these are believed about the client. */
  readonly trustedProxies: readonly string[];
  readonly logLevel: string;
  /** What else the environment of the launcher sets goes to the services unchanged. */
  readonly environment: Readonly<NodeJS.ProcessEnv>;
}

/** A fault of the flags or the environment, worth one line. */
export class OptionsError extends Error {}

export const HELP: string;

/** @throws OptionsError naming every fault */
export function parseOptions(args: readonly string[], environment: NodeJS.ProcessEnv): Options | 'help';
