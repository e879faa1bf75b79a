import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';

const MAX_LENGTH = 100;
/** Control characters, of which PostgreSQL's text type can't store NUL. */
const unprintable = /\p{Cc}+/gu;

const clean = (text: string): string =>
  text.slice(0, MAX_LENGTH).toWellFormed().replaceAll(unprintable, ' ').trim();

interface Source {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: unknown;
}

/**
 * Returns the name and version that the client gives itself. The stateless revision carries them in each message; for
 * earlier revisions, which send them only with `initialize`, this is the `User-Agent`.
 */
export function getClientName({ headers, body }: Source): string | undefined {
  const { params } = body as { readonly params?: { readonly _meta?: Record<string, unknown> | null } | null };
  const info = params?._meta?.[CLIENT_INFO_META_KEY] as
    { name?: unknown; version?: unknown } | null | undefined;
  const name =
    typeof info?.name === 'string'
      ? `${info.name} ${typeof info.version === 'string' ? info.version : ''}`
      : headers['user-agent'];
  return (typeof name === 'string' && clean(name)) || undefined;
}
