import type { FastifyRequest } from 'fastify';

const DEFAULT_LANGUAGE = 'en-GB';

/** Returns the language that a browser prefers, for how a date is written; the texts of the pages are English. */
function readLanguage(header: string | undefined): string {
  const [preferred = ''] = (header ?? '').split(/[,;]/, 1);
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(preferred.trim())[0] ?? DEFAULT_LANGUAGE;
  } catch {
    return DEFAULT_LANGUAGE;
  }
}

export type FormatDay = (at: Date) => string;

/** Creates what formats days for the reader of a page, whose time zone is not known: they are days of UTC. */
export function createFormatDay({ headers }: Pick<FastifyRequest, 'headers'>): FormatDay {
  const format = new Intl.DateTimeFormat(readLanguage(headers['accept-language']), {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
  return (at) => format.format(at);
}
