import { request } from 'node:http';
import type { Act, History, Operation, Outcome } from './history.js';

export interface CallAnswer extends Operation {
  // oxlint-disable-next-line typescript/no-explicit-any -- The shapes of the responses are those of the OpenAPI documents.
  readonly body: any;
}

export interface CallOptions {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the operation is about, and what it writes there. */
  readonly object?: string;
  readonly value?: unknown;
  /** Returns what it has read, from the body of an answer that says "ok". */
  // oxlint-disable-next-line typescript/no-explicit-any -- As above.
  readonly read?: (body: any) => unknown;
}

const TIMEOUT_MS = 80_000;

export type Caller = ReturnType<typeof createCaller>;

/** Creates a client whose requests are in the history. Each uses a new connection, so none is reused while it closes. */
export function createCaller(url: string, history: History) {
  return {
    async call(kind: string, path: string, options: CallOptions = {}): Promise<CallAnswer> {
      const { object, value, read } = options;
      const act: Act = {
        kind,
        ...(object !== undefined && { object }),
        ...(value !== undefined && { value }),
      };
      const end = history.begin(act);
      const { status, text } = await send(new URL(path, url), options);
      const body = parse(text);
      const outcome = toOutcome(status);
      const code =
        outcome === 'ok' ? undefined : String(body?.error?.code ?? body?.error ?? text.slice(0, 40));
      const operation = end({ outcome, status, code, value: read && outcome === 'ok' ? read(body) : value });
      return { ...operation, body };
    },
  };
}

/** An answer of 5xx doesn't say whether the request was done, and a timeout neither. */
const toOutcome = (status: number): Outcome => {
  if (status === 0 || status === 408 || status >= 500) return 'indeterminate';
  return status < 400 ? 'ok' : 'refused';
};

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
