import type { IdentitySchemas } from '@platform/clients/types';
import type { applications } from '#text/applications';
import { formatDay } from '../../text/dates.ts';

export type Application = IdentitySchemas['schemas']['OAuthApplication'];
export type Secret = Application['secrets'][number];
export type Access = keyof typeof applications.accessKinds;
export type AuthMethod = keyof typeof applications.authMethods;

export const grantTypes = {
  person: ['authorization_code', 'refresh_token'],
  service: ['client_credentials'],
  both: ['authorization_code', 'refresh_token', 'client_credentials'],
} as const;

export function getAccess({ grantTypes: granted }: Pick<Application, 'grantTypes'>): Access {
  if (!granted.includes('client_credentials')) return 'person';
  return granted.includes('authorization_code') ? 'both' : 'service';
}

/** Reads what is typed, one a line. */
export const readLines = (typed: string): string[] => typed.split(/\s+/).filter((line) => line !== '');

type KeySet = NonNullable<Application['jwks']>;

/**
 * Reads a set of keys, or a single key.
 *
 * @returns undefined when it is not JSON of that kind.
 */
export function readKeys(typed: string): KeySet | undefined {
  try {
    const value: unknown = JSON.parse(typed);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return 'keys' in value ? (value as KeySet) : { keys: [value as KeySet['keys'][number]] };
  } catch {
    return undefined;
  }
}

/** A secret has no name: it is known by the day of its creation. */
export const toDay = ({ createdAt }: Secret): string => formatDay(new Date(createdAt));
