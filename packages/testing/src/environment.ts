/** The environment variable that passes the server of the run to Jest's workers. */
export const ADMIN_URL_VARIABLE = 'TEST_POSTGRES_ADMIN_URL';

/** The server given by the caller of the tests; its user must be able to create databases. */
export function readGivenUrl(): string | undefined {
  return process.env['TEST_DATABASE_URL'] || undefined;
}

/** The server that the global setup has started. */
export function readAdminUrl(): string {
  const url = process.env[ADMIN_URL_VARIABLE];
  if (!url)
    throw new Error(`${ADMIN_URL_VARIABLE} is not set: run the tests with packages/config/jest.config.mjs`);
  return url;
}

/** Returns the address of the Docker engine, if there is one. */
export function readDockerHost(): string {
  return process.env['DOCKER_HOST'] || 'unix:///var/run/docker.sock';
}
