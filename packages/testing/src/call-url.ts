/** The parts of a service's response that tests examine. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body, or undefined when it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

/** Options of {@link callUrl}. */
export interface CallOptions {
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** A raw body, sent instead of `body` with the content type of JSON. */
  readonly raw?: string;
  /** Headers that extend or replace those from the other options. */
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Calls a service over HTTP; no response counts as an error. */
export async function callUrl(url: string, method: string, options: CallOptions = {}): Promise<Answer> {
  const { token, body, raw, headers, signal } = options;
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url, {
    method,
    headers: {
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(payload === undefined ? {} : { body: payload }),
    ...(signal && { signal }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? (JSON.parse(text) as unknown) : undefined,
  };
}
