/** The server's configuration, read from the environment. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  /** A PostgreSQL database that nothing else uses. */
  readonly databaseUrl: string;
  /** The base URL of the platform, and a token with the scope `crawl:read`, for its sync events. */
  readonly platformUrl: string;
  readonly platformToken: string;
  /** The base URL in the links of answers. */
  readonly publicUrl: string;
  /** The URL at which the platform publishes its public keys. */
  readonly jwksUrl: URL;
  readonly issuer: string;
  /** The URL that the server is mounted with. */
  readonly audience: string;
  /** The id of the one organisation that is served. */
  readonly org: string;
  /** Identity's own URL, and this server's credentials there, to verify the tokens of workers. */
  readonly identityUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** @throws Error that names every variable that is missing or wrong. */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const faults: string[] = [];
  const read = (name: string, isValid: (value: string) => boolean, rule: string): string => {
    const value = environment[name] ?? '';
    if (!isValid(value)) faults.push(`${name} must be ${rule}`);
    return value;
  };
  const isText = (value: string) => value !== '';
  const settings = {
    host: environment['HOST'] || '127.0.0.1',
    port: Number(read('PORT', (value) => /^\d{1,5}$/.test(value), 'a port')),
    databaseUrl: read('DATABASE_URL', (value) => URL.canParse(value), 'the URL of a PostgreSQL database'),
    platformUrl: read('PLATFORM_URL', (value) => URL.canParse(value), "the platform's URL"),
    platformToken: read('PLATFORM_TOKEN', isText, 'a token with the scope crawl:read'),
    publicUrl: read('PUBLIC_URL', (value) => URL.canParse(value), "the platform's URL in links"),
    jwksUrl: read('JWKS_URL', (value) => URL.canParse(value), 'a URL'),
    issuer: read('TOKEN_ISSUER', isText, 'the issuer of the assertions'),
    audience: read('AUDIENCE', (value) => URL.canParse(value), 'the URL that the server is mounted with'),
    org: read('ORG_ID', isText, 'the id of an organisation'),
    identityUrl: read('IDENTITY_URL', (value) => URL.canParse(value), "identity's own URL"),
    clientId: read('CLIENT_ID', isText, "this server's id in SERVICE_CLIENTS of identity"),
    clientSecret: read('CLIENT_SECRET', isText, "this server's secret in SERVICE_CLIENTS of identity"),
  };
  if (faults.length > 0) throw new Error(faults.join('; '));
  return { ...settings, jwksUrl: new URL(settings.jwksUrl) };
}
