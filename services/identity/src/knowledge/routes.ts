import { getAccount, requireAccount, requireScopes } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { createListSources, KnowledgeSource } from './sources.js';

/** Registers what members and service accounts with `kb:read` can learn of the knowledge that they can search. */
export function registerKnowledge(app: App, deps: Parameters<typeof createListSources>[0]): void {
  const listSources = createListSources(deps);
  app.get(
    '/api/v1/knowledge/sources',
    {
      onRequest: [app.authenticate, requireAccount, requireScopes(['kb:read'])],
      schema: {
        operationId: 'listKnowledgeSources',
        tags: ['Knowledge'],
        summary:
          'The sources of what the caller can search, and how old they are; for administrators all sources',
        description:
          'Says what is crawled, how many documents there are and how old, as far as the worker of the source says so, and who can search it.',
        response: {
          200: Type.Object({ data: Type.Array(KnowledgeSource) }),
          ...errorResponses(401, 403),
        },
      },
    },
    async (request) => ({ data: await listSources(getAccount(request)) }),
  );
}
