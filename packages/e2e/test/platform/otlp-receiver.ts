import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A span as a collector receives it. */
export interface Span {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly Span[];
  /** The received values of `x-collector-key`. */
  readonly keys: readonly unknown[];
  close(): Promise<void>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<Span, 'attributes' | 'service'> & { attributes: Attribute[] })[];
    }[];
  }[];
}

const toRecord = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** The receiving half of OTLP/HTTP with JSON, as far as a test needs it. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: Span[] = [];
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      keys.push(request.headers['x-collector-key']);
      if (request.url === '/v1/traces')
        for (const { resource, scopeSpans } of (body as Export).resourceSpans)
          for (const span of scopeSpans.flatMap((scope) => scope.spans))
            spans.push({
              ...span,
              attributes: toRecord(span.attributes),
              service: String(toRecord(resource.attributes)['service.name']),
            });
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    keys,
    close: () =>
      new Promise((done) => {
        server.close(() => {
          done();
        });
        server.closeAllConnections();
      }),
  };
}
