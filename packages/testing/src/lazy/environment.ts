import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Servers that are started when the first test of a run asks for them. */
export type LazyService = 'kafka' | 'redis';

/** The environment variable that tells Jest's workers whom to ask for a lazy service. */
export const LAZY_SERVICES_VARIABLE = 'TEST_LAZY_SERVICES_URL';
/** …and which of them can't be had: a JSON object from name to reason. */
export const MISSING_SERVICES_VARIABLE = 'TEST_MISSING_SERVICES';

const GIVEN_VARIABLE: Readonly<Record<LazyService, string>> = { kafka: 'KAFKA_BROKERS', redis: 'REDIS_URL' };

/** The server that the caller of the tests wants to be used. */
export const readGiven = (service: LazyService): string | undefined =>
  process.env[GIVEN_VARIABLE[service]] || undefined;

/** Whether a missing server is a failure rather than a skip: for the machine that must run everything. */
export const isEverythingRequired = (): boolean => process.env['REQUIRE_ALL'] === '1';

export const readLazyServicesUrl = (): string => {
  const url = process.env[LAZY_SERVICES_VARIABLE];
  if (!url)
    throw new Error(
      `${LAZY_SERVICES_VARIABLE} is not set: run the tests with packages/config/jest.config.mjs`,
    );
  return url;
};

/** Why something can't be had on this machine; undefined when it can. */
export function readMissing(name: string): string | undefined {
  const missing = JSON.parse(process.env[MISSING_SERVICES_VARIABLE] || '{}') as Record<string, string>;
  return missing[name];
}

/** Whether a program of this name would be found. */
export function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return directory !== '';
    } catch {
      return false;
    }
  });
}
