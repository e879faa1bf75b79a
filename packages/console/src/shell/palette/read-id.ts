const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** A JWT, with what a token has before and after it. */
const JWT = /eyJ[\w-]*\.(?<payload>[\w-]+)\./;

/** Returns whether a text has the beginning of a token: such a text stays in the browser. */
export const hasSecret = (text: string): boolean => /eyJ|\b[a-z]+_eyJ/i.test(text);

function readTokenId(text: string): string | undefined {
  const payload = JWT.exec(text)?.groups?.['payload'];
  if (payload === undefined) return undefined;
  try {
    const read: unknown = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    const { jti } = (read ?? {}) as { readonly jti?: unknown };
    return typeof jti === 'string' ? jti : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the id that a text is, or that the token in it has. A token names its id in the clear, so that nothing of it is sent. */
export function readId(text: string): string | undefined {
  const id = readTokenId(text) ?? text.trim();
  return UUID.test(id) ? id.toLowerCase() : undefined;
}
