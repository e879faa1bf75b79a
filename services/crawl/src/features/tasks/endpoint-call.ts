import type { Dispatcher } from 'undici';

/** What an endpoint answered, as far as it can be believed. */
export interface EndpointAnswer {
  readonly status: number;
  /** Undefined when the body isn't JSON. */
  readonly body: unknown;
  readonly location: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** An endpoint has no business saying more. */
const BODY_BYTES_MAX = 65_536;
/** Of a question for progress. The order itself may be answered when it is done: the run's own timeout bounds it. */
const QUESTION_TIMEOUT_MS = 30_000;

async function readBody(body: Dispatcher.ResponseData['body']): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (bytes > BODY_BYTES_MAX)
      throw new Error(`The endpoint answered with more than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

const textOf = (header: string | string[] | undefined): string | undefined => [header].flat()[0];

function retryAfterOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,4}$/.test(header) ? Number(header) * 1_000 : undefined;
}

export interface EndpointRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly token: string;
  readonly runId: string;
  readonly order?: { readonly body: string; readonly idempotencyKey: string; readonly deadline: string };
  readonly signal: AbortSignal;
}

/**
 * One request. Redirects are not followed: the credential is for the configured origin alone.
 *
 * @throws Error in words for the run's reason: never the answer's own text.
 */
export async function callEndpoint(
  dispatcher: Dispatcher,
  request: EndpointRequest,
): Promise<EndpointAnswer> {
  const { method, url, token, runId, order, signal } = request;
  try {
    const response = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'x-request-id': runId,
        ...(order && {
          'content-type': 'application/json',
          'idempotency-key': order.idempotencyKey,
          'x-run-deadline': order.deadline,
        }),
      },
      ...(order && { body: order.body }),
      signal:
        method === 'POST' ? signal : AbortSignal.any([signal, AbortSignal.timeout(QUESTION_TIMEOUT_MS)]),
    });
    return {
      status: response.statusCode,
      location: textOf(response.headers['location']),
      retryAfterMs: retryAfterOf(textOf(response.headers['retry-after'])),
      body: await readBody(response.body),
    };
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    throw new Error(`The endpoint could not be asked: ${typeof code === 'string' ? code : message}`, {
      cause: error,
    });
  }
}
