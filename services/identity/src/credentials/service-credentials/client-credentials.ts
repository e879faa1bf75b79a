/** Decodes `application/x-www-form-urlencoded`. @returns undefined when the text is malformed. */
function decodeForm(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

export interface ClientCredentials {
  readonly id: string;
  /** The possible secrets: decoded, and as received, because curl and many clients do not encode it. */
  readonly secrets: readonly string[];
}

/** Parses HTTP Basic with form-encoded parts (RFC 6749 §2.3.1). @returns undefined when there are no credentials. */
export function readClientCredentials(authorization: string | undefined): ClientCredentials | undefined {
  const [, encoded = ''] = /^basic +([\w+/=-]+)$/i.exec(authorization ?? '') ?? [];
  const [, rawId, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  const id = rawId === undefined ? undefined : decodeForm(rawId);
  if (id === undefined || secret === undefined) return undefined;
  const decoded = decodeForm(secret);
  return { id, secrets: decoded === undefined ? [secret] : [decoded, secret] };
}
