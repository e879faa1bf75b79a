import { type Answer, type CallOptions, callUrl } from '@platform/testing';
import type { IdentityUnderTest } from '../identity.js';

/** A route as documented by `/docs/json`. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
  readonly isJson: boolean;
  /** Whether it answers without a credential. */
  readonly isOpen: boolean;
  /** Whether pages of other origins may read it, so that it answers their preflights. */
  readonly isPublic: boolean;
}

interface Operation {
  readonly requestBody?: { readonly content?: Record<string, unknown> };
  readonly security: object[];
}

/** Every documented route, the internal ones too: the list grows with the service. */
export async function listRoutes(identity: IdentityUnderTest): Promise<Route[]> {
  const documents = await Promise.all(
    ['/docs/json', '/internal/openapi.json'].map((path) => identity.call('GET', path)),
  );
  const paths = documents.flatMap(({ body }) =>
    Object.entries(body.paths as Record<string, Record<string, Operation>>),
  );
  return paths.flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const content = operation.requestBody?.content;
      return {
        method: method.toUpperCase(),
        path,
        hasBody: content !== undefined,
        // What is JSON at `/mcp` has rules and faults of its own.
        isJson: content?.['application/json'] !== undefined && path !== '/mcp',
        isOpen:
          operation.security.length === 0 ||
          operation.security.some((scheme) => Object.keys(scheme).length === 0),
        isPublic: /^\/(?:mcp\/server-card|\.well-known\/ai-catalog|v0\.1\/)/.test(path),
      };
    }),
  );
}

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';

export const callWith = (
  { url }: IdentityUnderTest,
  { method, path }: Pick<Route, 'method' | 'path'>,
  options: CallOptions & { readonly id?: string; readonly query?: string } = {},
): Promise<Answer> =>
  callUrl(
    `${url}${path.replaceAll(/\{\w+\}/g, options.id ?? UNKNOWN_ID)}${options.query ?? ''}`,
    method,
    options,
  );

/** Expects a well-formed client error that reveals no internals. */
export function expectRefusal(answer: Answer, where: string): void {
  expect([where, answer.status, answer.status >= 400 && answer.status < 500]).toEqual([
    where,
    answer.status,
    true,
  ]);
  expect([where, answer.headers.get('x-request-id')]).toEqual([where, expect.stringMatching(/^\S+$/)]);
  const isOAuth = where.endsWith('/oauth2/token') && [400, 401].includes(answer.status);
  const error: unknown = isOAuth
    ? { error: expect.stringMatching(/^[a-z_]+$/), error_description: expect.any(String) }
    : /\/mcp(?!-)/.test(where)
      ? { jsonrpc: '2.0', id: null, error: { code: expect.any(Number), message: expect.any(String) } }
      : { error: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }) };
  expect([where, answer.body]).toEqual([where, error]);
  expect(answer.text).not.toMatch(/node_modules|\.[jt]s:\d|prisma|postgres/i);
}

/** Expects no error of our own in the log, and none of the secrets. */
export function expectCleanLog(identity: IdentityUnderTest, secrets: readonly string[]): void {
  const lines = identity.logged().split('\n');
  expect(lines.filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([]);
  expect(lines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
}
