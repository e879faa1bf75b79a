import { verify } from 'node:crypto';
import { type App, AppError, type Shutdown, validationError } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { Type } from 'typebox';
import { errorResponses } from '../../../base/openapi.js';
import { createAttemptLimits } from '../../../base/rate-limits/attempt-limits.js';
import { createLeaksJob } from './leaks.job.js';
import { LeakReportBody, type LeakReportContext, reportLeaks, reportMatches } from './reports.js';
import type { ScanningKeys } from './scanning-keys.js';

const PER_NETWORK = 60;
/** Each report writes up to a thousand rows, whoever sends it. */
const PER_INSTANCE = 20 * PER_NETWORK;

/**
 * Limits the requests of strangers in fifteen minutes, whatever they contain: those of a network, and, for reports that need
 * no signature, of everybody together. A scanner that signs its reports isn't kept away by what others send.
 */
function createLeakReportLimit(pool: pg.Pool, name: 'leak-report' | 'leak-signature') {
  const limits = createAttemptLimits(pool, {
    name,
    ...(name === 'leak-report' && { perSubject: PER_INSTANCE }),
    perPair: PER_NETWORK,
    perAddress: PER_NETWORK,
    message: 'Too many reports: try again later',
  });
  return {
    /** Counts a request from an address. @throws AppError 429. */
    count: (address: string): Promise<void> => limits.begin(name, { address }),
    /** Takes a count back, because the report is one of a scanner that is known. */
    takeBack: (address: string): Promise<void> => limits.succeed(name, { address }),
  };
}
type LeakReportLimit = ReturnType<typeof createLeakReportLimit>;

const MAX_BODY_BYTES = 1_048_576;

/** Registers the route for everybody who has found tokens. [PAT-31] */
function leakReportRoutes(app: App, ctx: LeakReportContext, limit: LeakReportLimit): void {
  app.post(
    '/api/v1/personal-access-tokens/leaked',
    {
      bodyLimit: MAX_BODY_BYTES,
      // Before the body is read: its size is what strangers could use up.
      onRequest: (request) => limit.count(request.ip),
      schema: {
        operationId: 'reportLeakedTokens',
        tags: ['Personal access tokens'],
        summary: 'Report tokens that were found in public; those that are alive are revoked',
        security: [],
        body: LeakReportBody,
        response: { 202: Type.Object({ message: Type.String() }), ...errorResponses(400, 413, 429) },
      },
    },
    async (request, reply) => {
      await reportLeaks(ctx, request.body);
      return reply.code(202).send({ message: 'Thank you. What is alive of these is revoked.' });
    },
  );
}

/*
 * The partner format of GitHub's secret scanning: each request is signed over its raw body.
 * https://docs.github.com/en/code-security/secret-scanning/secret-scanning-partner-program
 */

const GITHUB_PATH = '/api/v1/personal-access-tokens/leaked/github';
const IDENTIFIER_HEADER = 'github-public-key-identifier';
const SIGNATURE_HEADER = 'github-public-key-signature';
const MAX_SCAN_BYTES = 4 * 1_048_576;

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
function githubLeakRoutes(
  app: App,
  ctx: LeakReportContext,
  { keys, limit }: { readonly keys: ScanningKeys; readonly limit: LeakReportLimit },
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
      GITHUB_PATH,
      {
        bodyLimit: MAX_SCAN_BYTES,
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
        const issued = await reportMatches(
          ctx,
          request.body.map(({ token, url }) => ({ token, ...(url && { url }) })),
        );
        return request.body.map(({ token, type }) => ({
          token_raw: token,
          token_type: type,
          label: issued.has(token) ? ('true_positive' as const) : ('false_positive' as const),
        }));
      },
    );
  });
}

/** Registers reports of leaked tokens, and starts the job that revokes them. */
export function registerTokenLeaks(
  app: App,
  deps: Parameters<typeof createLeaksJob>[0] & {
    /** The public keys of GitHub's secret scanning; undefined when it isn't used. */
    readonly scanningKeys: ScanningKeys | undefined;
    readonly shutdown: Shutdown;
  },
): void {
  const { pool, clock, shutdown } = deps;
  const job = createLeaksJob(deps);
  job.start();
  shutdown.on('workers', 'leaked tokens', job.stop);
  const ctx = { pool, clock, wake: job.wake };
  leakReportRoutes(app, ctx, createLeakReportLimit(pool, 'leak-report'));
  const { scanningKeys: keys } = deps;
  if (keys) githubLeakRoutes(app, ctx, { keys, limit: createLeakReportLimit(pool, 'leak-signature') });
}
