import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';

const MAX_LENGTH = 100;
/** Control characters; PostgreSQL's text can't hold the first. */
const unprintable = /\p{Cc}+/gu;

const clean = (text: string): string =>
  text.slice(0, MAX_LENGTH).toWellFormed().replaceAll(unprintable, ' ').trim();

interface Source {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: unknown;
}

/**
 * What the client says it is: its name and version, which the stateless revision has in each message,
 * or the `User-Agent`. Before that revision the name comes with `initialize` alone, which a stateless
 * endpoint doesn't remember.
 */
export function getClientName({ headers, body }: Source): string | undefined {
  const { params } = body as { readonly params?: { readonly _meta?: Record<string, unknown> | null } | null };
  const info = params?._meta?.[CLIENT_INFO_META_KEY] as
    { name?: unknown; version?: unknown } | null | undefined;
  const said =
    typeof info?.name === 'string'
      ? `${info.name} ${typeof info.version === 'string' ? info.version : ''}`
      : headers['user-agent'];
  return (typeof said === 'string' && clean(said)) || undefined;
}
