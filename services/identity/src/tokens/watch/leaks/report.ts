import { toDigest, toJwt } from '@platform/auth';
import { v4 as uuidv4 } from 'uuid';

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
  if (url === undefined || !URL.canParse(url)) return null;
  const { protocol, origin, pathname } = new URL(url);
  return protocol === 'https:' || protocol === 'http:' ? (origin + pathname).slice(0, 500) : null;
}

export interface LeakedValue {
  readonly tokenId: string;
  readonly digest: string;
  readonly url: string | null;
}

/** Turns a reported text into what is stored. Text that is no token gets an id that no token has, and costs the same. */
export function toLeakedValue({
  token,
  url,
}: {
  readonly token: string;
  readonly url?: string | undefined;
}): LeakedValue {
  const jwt = toJwt(token.trim());
  return { tokenId: readTokenId(jwt) ?? uuidv4(), digest: toDigest(jwt), url: readPlace(url) };
}
