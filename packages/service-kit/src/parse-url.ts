/**
 * Parses a URL, relative to the base where one is given. Node 20's own `URL.canParse` is not used: once the engine has
 * optimised a function that calls it (after some thousand calls), it is false for each text with a letter like `ü`.
 *
 * @returns undefined when it is no URL.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/**
 * The form of a URL that the platform is given to call. It has no user name, which could hide which host is meant, and no
 * fragment, which is not sent.
 */
export const HTTP_URL_PATTERN = String.raw`^[Hh][Tt][Tt][Pp][Ss]?://[^@/\\?#\s]+([/?][^#\s]*)?$`;
const httpUrlForm = new RegExp(HTTP_URL_PATTERN);

/** Parses a URL of the form of {@link HTTP_URL_PATTERN}. @returns undefined for any other text. */
export const parseHttpUrl = (text: string): URL | undefined =>
  httpUrlForm.test(text) ? parseUrl(text) : undefined;
