/** As `application/x-www-form-urlencoded` has it. @returns undefined when it isn't. */
function decodeForm(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

export interface ClientCredentials {
  readonly id: string;
  /** What the secret may be: decoded, and as it came, since services of before this release send it unencoded. */
  readonly secrets: readonly string[];
}

/** HTTP Basic with form-encoded parts (RFC 6749 §2.3.1). @returns undefined when there are none. */
export function readClientCredentials(authorization: string | undefined): ClientCredentials | undefined {
  const [, encoded = ''] = /^basic +([\w+/=-]+)$/i.exec(authorization ?? '') ?? [];
  const [, rawId, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  const id = rawId === undefined ? undefined : decodeForm(rawId);
  if (id === undefined || secret === undefined) return undefined;
  const decoded = decodeForm(secret);
  return { id, secrets: decoded === undefined ? [secret] : [decoded, secret] };
}
