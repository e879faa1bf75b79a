import { getAccount, requireAdmin, requireScopes, withDemand } from '@platform/auth';
import { CursorGoneError, InvalidCursorError, readFacts } from '@platform/events';
import { type App, AppError, errorResponses, validationError } from '@platform/service-kit';
import type { onRequestHookHandler } from 'fastify';
import type { Resources } from '../resources.js';
import { FactsPage, FactsQuery } from './feed.schemas.js';

export const cursorGone = (): AppError =>
  new AppError({
    status: 410,
    code: 'CURSOR_GONE',
    message:
      'The feed cannot continue from this cursor: later facts were deleted, or the database was restored. Read from the beginning, without `after`, and drop what you have by `id`',
  });

function outOfBounds(): AppError {
  return new AppError({
    status: 403,
    code: 'OUT_OF_BOUNDS',
    message: 'The feed is about more than what the credential is limited to',
  });
}

/** The feed is about the whole organisation, so that a credential with bounds, whatever they are, is refused. */
const requireNoBounds: onRequestHookHandler = withDemand<onRequestHookHandler>(
  (request, _reply, done) => {
    if (getAccount(request).bounds !== undefined) throw outOfBounds();
    done();
  },
  { errors: [outOfBounds()] },
);

/** Answers a cursor from which a read cannot go on. @throws AppError 400, 410. */
export async function readingCursor<Page>(read: () => Promise<Page>): Promise<Page> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof CursorGoneError) throw cursorGone();
    if (!(error instanceof InvalidCursorError)) throw error;
    throw validationError([{ field: 'after', message: 'is not a cursor of this endpoint' }]);
  }
}

/** Registers the feed of an organisation's facts, for administrators with `events:read`. */
export function registerFactFeed(app: App, { pool }: Pick<Resources, 'pool'>): void {
  app.get(
    '/api/v1/events',
    {
      onRequest: [app.authenticate, requireScopes(['events:read']), requireAdmin(), requireNoBounds],
      schema: {
        operationId: 'listFacts',
        tags: ['Audit'],
        summary: 'What happens in the organisation, in order, for programs that follow it',
        description:
          'CloudEvents 1.0, oldest first. Store `nextCursor` once the facts are handled, and send it as `after`: each fact then comes once. Facts are kept for 14 days; an older cursor is 410 `CURSOR_GONE`. Poll it; it does not wait.',
        querystring: FactsQuery,
        response: { 200: FactsPage, ...errorResponses(400, 401, 403, 410, cursorGone()) },
      },
    },
    async (request) => {
      const { after, limit, types, order } = request.query;
      return readingCursor(() =>
        readFacts(pool, {
          orgId: getAccount(request).orgId,
          after,
          limit,
          isNewestFirst: order === 'newest',
          types: types?.split(','),
        }),
      );
    },
  );
}
