/** Servers that are started when the first test of a run needs them. */
export type LazyService = 'kafka' | 'redis';

/** The environment variable with the address from which Jest's workers request lazy services. */
export const LAZY_SERVICES_VARIABLE = 'TEST_LAZY_SERVICES_URL';

/** The variable that gives a server to the tests. */
export const GIVEN_VARIABLE: Readonly<Record<LazyService, string>> = {
  kafka: 'KAFKA_BROKERS',
  redis: 'REDIS_URL',
};

/** Returns the server given by the caller of the tests. */
export const readGiven = (service: LazyService): string | undefined =>
  process.env[GIVEN_VARIABLE[service]] || undefined;

export const readLazyServicesUrl = (): string => {
  const url = process.env[LAZY_SERVICES_VARIABLE];
  if (!url)
    throw new Error(
      `${LAZY_SERVICES_VARIABLE} is not set: run the tests with packages/config/jest.config.mjs`,
    );
  return url;
};

/** Returns the environment of this process with other variables, for a child process. */
export const extendEnvironment = (variables: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...variables,
});
