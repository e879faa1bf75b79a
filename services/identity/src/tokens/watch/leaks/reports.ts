import { toDigest, toJwt } from '@platform/auth';
import { type Clock, parseUrl } from '@platform/service-kit';
import type pg from 'pg';
import { Type } from 'typebox';
import { v4 as uuidv4 } from 'uuid';
import { insertLeakReports, type LeakedValue } from './leaks.sql.js';

const MAX_TOKENS = 1_000;
const MAX_REPORTED_LENGTH = 4_096;

export const LeakReportBody = Type.Object(
  {
    tokens: Type.Array(
      Type.Object(
        {
          token: Type.String({ minLength: 1, maxLength: MAX_REPORTED_LENGTH }),
          url: Type.Optional(Type.String({ maxLength: 2_048, description: 'Where it was found.' })),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: MAX_TOKENS },
    ),
  },
  { additionalProperties: false },
);
export type LeakReportBody = Type.Static<typeof LeakReportBody>;

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Reads the id from the payload of a JWT whose signature needn't be checked: the stored digest is compared later. */
function readTokenId(jwt: string): string | undefined {
  try {
    const payload: unknown = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
    const { jti } = (payload ?? {}) as { jti?: unknown };
    return typeof jti === 'string' && uuid.test(jti) ? jti : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the place without its query and fragment, which may contain the token itself. */
function readPlace(url: string | undefined): string | null {
  const place = parseUrl(url ?? '');
  if (!place) return null;
  const { protocol, origin, pathname } = place;
  return protocol === 'https:' || protocol === 'http:' ? (origin + pathname).slice(0, 500) : null;
}

/** Turns a reported text into what is stored. Text that is no token gets an id that no token has, and costs the same. */
function toLeakedValue({ token, url }: LeakReportBody['tokens'][number]): LeakedValue {
  const jwt = toJwt(token.trim());
  return { tokenId: readTokenId(jwt) ?? uuidv4(), digest: toDigest(jwt), url: readPlace(url) };
}

export interface LeakReportContext {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  /** Wakes the job that revokes the tokens. */
  readonly wake: () => void;
}

/** Stores a report of leaked tokens. Neither the result nor its time reveals which of them are tokens. */
export async function reportLeaks(
  { pool, clock, wake }: LeakReportContext,
  { tokens }: LeakReportBody,
): Promise<void> {
  const unique = new Map(tokens.map(toLeakedValue).map((value) => [value.digest, value]));
  await insertLeakReports(pool, [...unique.values()], new Date(clock()));
  // The answer doesn't wait for the job, which takes longer when a token is alive.
  setImmediate(wake);
}
