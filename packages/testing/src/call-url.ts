/** An answer of a service, as far as tests look at it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined when it isn't JSON. Tests look into answers of every shape. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

/** Options of {@link callUrl}. */
export interface CallOptions {
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead of `body`, as if it were JSON. */
  readonly raw?: string;
  /** Beside, or instead of, those that follow from the others. */
  readonly headers?: Record<string, string>;
}

/** Calls a service over HTTP; whatever it answers is no error. */
export async function callUrl(url: string, method: string, options: CallOptions = {}): Promise<Answer> {
  const { token, body, raw, headers } = options;
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url, {
    method,
    headers: {
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(payload === undefined ? {} : { body: payload }),
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
