import { request } from 'node:http';

/** One request of the workload, and how it was answered. */
export interface CallRecord {
  /** The intent of the caller, such as `token: create`. */
  readonly kind: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** 0 when there was no response. */
  readonly status: number;
  readonly code: string | undefined;
}

export interface CallAnswer extends CallRecord {
  // oxlint-disable-next-line typescript/no-explicit-any -- The shapes of the responses are those of the OpenAPI documents.
  readonly body: any;
}

export interface CallOptions {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 80_000;

export type Caller = ReturnType<typeof createCaller>;

/** Creates a client that keeps a record of each request. Each uses a new connection, so none is reused while it closes. */
export function createCaller(url: string) {
  const records: CallRecord[] = [];
  return {
    records: records as readonly CallRecord[],
    async call(kind: string, path: string, options: CallOptions = {}): Promise<CallAnswer> {
      const startedAt = Date.now();
      const { status, text } = await send(new URL(path, url), options);
      const body = parse(text);
      const failed = status === 0 || status >= 400;
      const code = failed ? String(body?.error?.code ?? body?.error ?? text.slice(0, 40)) : undefined;
      const record = { kind, startedAt, endedAt: Date.now(), status, code };
      records.push(record);
      return { ...record, body };
    },
  };
}

function send(url: URL, { method, token, body, headers }: CallOptions) {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  return new Promise<{ readonly status: number; readonly text: string }>((resolve) => {
    const outgoing = request(
      url,
      {
        method: method ?? (payload === undefined ? 'GET' : 'POST'),
        agent: false,
        timeout: TIMEOUT_MS,
        headers: {
          accept: 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(payload !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(payload),
          }),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', (error: NodeJS.ErrnoException) =>
          resolve({ status: 0, text: error.code ?? error.message }),
        );
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
    outgoing.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ status: 0, text: error.code ?? error.message }),
    );
    outgoing.end(payload);
  });
}

// oxlint-disable-next-line typescript/no-explicit-any -- As above.
function parse(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
