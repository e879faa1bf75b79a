import { ACCESS_TOKEN_SECONDS } from './access-tokens.js';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** The longest lifetime of a connection. */
export const GRANT_SECONDS = 90 * DAY;
/** The longest lifetime of a JWT with which a client authenticates. */
export const MAX_ASSERTION_SECONDS = 10 * MINUTE;
const INTERACTION_SECONDS = 15 * MINUTE;

/** The lifetimes of what the provider issues and stores, in seconds. */
export const lifetimes = {
  AuthorizationCode: MINUTE,
  AccessToken: ACCESS_TOKEN_SECONDS,
  ClientCredentials: ACCESS_TOKEN_SECONDS,
  Grant: GRANT_SECONDS,
  Interaction: INTERACTION_SECONDS,
  /** A refresh token expires when it is not used for so long. */
  RefreshToken: 30 * DAY,
  Session: INTERACTION_SECONDS,
} as const;
