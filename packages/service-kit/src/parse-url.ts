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
