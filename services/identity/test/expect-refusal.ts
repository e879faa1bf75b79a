import type { Answer } from '@platform/testing';

/** Expects a well-formed client error that reveals no internals. */
export function expectRefusal(answer: Answer, where: string): void {
  expect([where, answer.status >= 400 && answer.status < 500]).toEqual([where, true]);
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
