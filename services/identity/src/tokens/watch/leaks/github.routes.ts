import { verify } from 'node:crypto';
import { AppError, type App, validationError } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { errorResponses } from '../../../base/openapi.js';
import type { LeakReportLimit } from './report-limit.js';
import type { ScanningKeys } from './scanning-keys.js';
import type { LeakReports } from './service.js';

/*
 * The partner format of GitHub's secret scanning: each request is signed over its raw body.
 * https://docs.github.com/en/code-security/secret-scanning/secret-scanning-partner-program
 */

const PATH = '/api/v1/personal-access-tokens/leaked/github';
const IDENTIFIER_HEADER = 'github-public-key-identifier';
const SIGNATURE_HEADER = 'github-public-key-signature';
const MAX_BODY_BYTES = 4 * 1_048_576;

const Matches = Type.Array(
  Type.Object({
    // Without a maximum: one long text that matches must not keep the tokens beside it from being revoked.
    token: Type.String({ minLength: 1 }),
    type: Type.String({ maxLength: 200, description: 'The name of the regular expression that found it.' }),
    url: Type.Optional(
      Type.Union([Type.String({ maxLength: 4_096, description: 'May be empty.' }), Type.Null()]),
    ),
    source: Type.Optional(Type.String({ maxLength: 200 })),
  }),
  { minItems: 1, maxItems: 10_000 },
);

const Feedback = Type.Array(
  Type.Object({
    token_raw: Type.String(),
    token_type: Type.String(),
    label: Type.Enum(['true_positive', 'false_positive']),
  }),
);

const unsigned = (): AppError =>
  new AppError({ status: 401, code: 'SIGNATURE_REQUIRED', message: 'A valid signature is required' });

const readHeader = ({ headers }: FastifyRequest, name: string): string => [headers[name]].flat()[0] ?? '';

/** Registers the route for GitHub's secret scanning. [PAT-33] */
export function githubLeakRoutes(
  app: App,
  {
    keys,
    report,
    limit,
  }: {
    readonly keys: ScanningKeys;
    readonly report: LeakReports['reportMatches'];
    readonly limit: LeakReportLimit;
  },
): void {
  const findKey = (request: FastifyRequest) => keys.get(readHeader(request, IDENTIFIER_HEADER));

  function isSigned(request: FastifyRequest, body: Buffer): boolean {
    const key = findKey(request);
    const signature = Buffer.from(readHeader(request, SIGNATURE_HEADER), 'base64');
    return key !== undefined && verify('sha256', body, key, signature);
  }

  app.register(async (scope: App) => {
    scope.removeContentTypeParser('application/json');
    // The signature is checked before anything is parsed.
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) => {
        if (!isSigned(request, body)) throw unsigned();
        await limit.takeBack(request.ip);
        try {
          return JSON.parse(body.toString()) as unknown;
        } catch {
          throw validationError([{ field: 'body', message: 'must be JSON' }]);
        }
      },
    );
    scope.post(
      PATH,
      {
        bodyLimit: MAX_BODY_BYTES,
        // Before the body is read: its size is what strangers could use up.
        onRequest: async (request) => {
          if (!findKey(request)) throw unsigned();
          await limit.count(request.ip);
        },
        schema: {
          operationId: 'reportScannedTokens',
          tags: ['Personal access tokens'],
          summary: 'Report tokens in the format of GitHub secret scanning, signed',
          security: [],
          body: Matches,
          response: { 200: Feedback, ...errorResponses(400, 401, 413, 429) },
        },
      },
      async (request) => {
        const issued = await report(request.body.map(({ token, url }) => ({ token, ...(url && { url }) })));
        return request.body.map(({ token, type }) => ({
          token_raw: token,
          token_type: type,
          label: issued.has(token) ? ('true_positive' as const) : ('false_positive' as const),
        }));
      },
    );
  });
}
