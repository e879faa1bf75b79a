import { getAccount, requireSession } from '@platform/auth';
import { type App, type Clock, errorResponses, IdPath } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import type { Prisma } from '../../prisma.js';
import { userNotFound } from './errors.js';
import { findMember } from './queries.js';
import {
  countOpenSessions,
  findAccountsSetUpBy,
  findOwned,
  MAX_COUNTED,
  MAX_NAMED,
} from './removal.queries.js';

/* What ends when a member is removed (API-19). */

const Ended = Type.Object({
  total: Type.Integer({ description: `At most ${MAX_COUNTED}.` }),
  totalIsMinimum: Type.Boolean({ description: 'Whether there are more than were counted.' }),
  names: Type.Array(Type.String(), { description: `The first ${MAX_NAMED} by name.` }),
});

const Removal = Type.Object(
  {
    sessions: Type.Integer({ description: `At most ${MAX_COUNTED}.` }),
    tokens: Ended,
    apps: Ended,
    passkeys: Ended,
    services: Ended,
    subscriptions: Ended,
    serviceAccounts: Type.Object(
      {
        total: Ended.properties.total,
        totalIsMinimum: Ended.properties.totalIsMinimum,
        accounts: Type.Array(Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String() }), {
          description: `The first ${MAX_NAMED} by name.`,
        }),
      },
      { description: 'The service accounts that the member has set up. They keep working.' },
    ),
  },
  { title: 'MemberRemoval' },
);

const toEnded = (names: readonly string[]): Type.Static<typeof Ended> => ({
  total: Math.min(names.length, MAX_COUNTED),
  totalIsMinimum: names.length > MAX_COUNTED,
  names: names.slice(0, MAX_NAMED),
});

/** For administrators, in a session. */
export function removalRoute(
  app: App,
  { prisma, clock }: { readonly prisma: Prisma; readonly clock: Clock },
): void {
  app.get(
    '/api/v1/users/:id/removal',
    {
      onRequest: [app.authenticate, requireSession, requireAdminRole],
      schema: {
        operationId: 'describeUserRemoval',
        tags: ['Users'],
        summary: 'What ends when the member is removed, by name',
        description: 'Counts at most 1,000 of each kind, and names the first 50. Nothing is changed.',
        params: IdPath,
        response: { 200: Type.Object({ removal: Removal }), ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const { id } = request.params;
      if (!(await findMember(prisma, getAccount(request).orgId, id))) throw userNotFound();
      const now = new Date(clock());
      const owned = await findOwned(prisma, id, now);
      const accounts = await findAccountsSetUpBy(prisma, id);
      return {
        removal: {
          sessions: await countOpenSessions(prisma, id, now),
          tokens: toEnded(owned.tokens),
          apps: toEnded(owned.apps),
          passkeys: toEnded(owned.passkeys),
          services: toEnded(owned.services),
          subscriptions: toEnded(owned.subscriptions),
          serviceAccounts: {
            total: Math.min(accounts.length, MAX_COUNTED),
            totalIsMinimum: accounts.length > MAX_COUNTED,
            accounts: accounts.slice(0, MAX_NAMED),
          },
        },
      };
    },
  );
}
