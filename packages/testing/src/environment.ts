/** The servers that are started when the first test of a run needs them. */
export type LazyService = 'kafka' | 'redis';

/** The variable by which the caller of the tests gives them a server. */
export const GIVEN_VARIABLE: Readonly<Record<LazyService, string>> = {
  kafka: 'KAFKA_BROKERS',
  redis: 'REDIS_URL',
};

/** Returns the server given by the caller of the tests. */
export const readGiven = (service: LazyService): string | undefined =>
  process.env[GIVEN_VARIABLE[service]] || undefined;

/** Returns the PostgreSQL given by the caller of the tests; its user must be able to create databases. */
export const readGivenPostgres = (): string | undefined => process.env['TEST_DATABASE_URL'] || undefined;

/** Returns the address of the Docker engine, if there is one. */
export const readDockerHost = (): string => process.env['DOCKER_HOST'] || 'unix:///var/run/docker.sock';

/** The variable that passes the PostgreSQL of the run to Jest's workers. */
export const ADMIN_URL_VARIABLE = 'TEST_POSTGRES_ADMIN_URL';

/** The variable with the address from which Jest's workers request lazy services. */
export const LAZY_SERVICES_VARIABLE = 'TEST_LAZY_SERVICES_URL';

/** Returns a variable that the global setup has set. */
function readFromSetup(variable: string): string {
  const value = process.env[variable];
  if (!value) throw new Error(`${variable} is not set: run the tests with packages/config/jest.config.mjs`);
  return value;
}

export const readAdminUrl = (): string => readFromSetup(ADMIN_URL_VARIABLE);

export const readLazyServicesUrl = (): string => readFromSetup(LAZY_SERVICES_VARIABLE);

/** Returns the environment of this process with other variables, for a child process. */
export const extendEnvironment = (variables: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...variables,
});

/** How many interleavings of each set of actors are tried, unless there are fewer. */
const DEFAULT_INTERLEAVINGS = 300;

/** Returns how many interleavings are tried: the default takes seconds for each set of actors. */
export function readInterleavingSeeds(): number {
  const text = process.env['INTERLEAVING_SEEDS'] || String(DEFAULT_INTERLEAVINGS);
  if (!/^[1-9]\d{0,6}$/.test(text))
    throw new Error(`INTERLEAVING_SEEDS must be a number from 1, not ${text}`);
  return Number(text);
}

/** Whether the caller of the tests wants more than the default. */
export const isThorough = (): boolean => Boolean(process.env['INTERLEAVING_SEEDS']);

/** Returns the seed or the path of the only interleaving to try, as a failure names it. */
export const readInterleavingReplay = (): string | undefined =>
  process.env['INTERLEAVING_REPLAY'] || undefined;
