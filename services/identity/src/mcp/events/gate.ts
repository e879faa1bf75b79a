import type { AccountPrincipal } from '@platform/auth';
import { encodeCursor, type FactEvent } from '@platform/events';
import { type Clock, createBatcher } from '@platform/service-kit';
import type pg from 'pg';
import type { ToSubscribedEvent } from '../../destinations/delivery.job.js';
import type { CallerCatalogue } from '../endpoint/catalogue.js';
import { toEventCaller } from './event-caller.js';
import { eventTypes } from './event-types.js';
import { toOccurrences } from './occurrences.js';

/*
 * What a subscription gets of a fact is decided when it is sent, by what its credential could see at this moment: a token that
 * was revoked, a member who was removed, and a scope, role, group or bound that was taken away end it with the next event.
 */

interface Credential {
  readonly orgId: string;
  readonly kind: 'pat' | 'oauth';
  readonly id: string;
}

/** Finds credentials of an organisation as their verification would find them now. */
export type FindCredentials = (
  orgId: string,
  kind: 'pat' | 'oauth',
  ids: readonly string[],
) => Promise<
  readonly { readonly id: string; readonly principal: AccountPrincipal; readonly isActive: boolean }[]
>;

const MAX_BATCH = 100;
const MAX_IN_FLIGHT = 2;

const byName = new Map(eventTypes.map((type) => [type.name, type]));

export function createGate(deps: {
  readonly pool: pg.Pool;
  readonly findCredentials: FindCredentials;
  readonly getCatalogue: (principal: AccountPrincipal) => Promise<Pick<CallerCatalogue, 'getView'>>;
  readonly clock: Clock;
}): ToSubscribedEvent {
  const { pool, findCredentials, getCatalogue, clock } = deps;
  const toKey = ({ orgId, kind }: Credential): string => `${orgId} ${kind}`;

  // The subscriptions that are served at the same time share their queries.
  const findPrincipal = createBatcher({
    toKey: (credential: Credential) => `${toKey(credential)} ${credential.id}`,
    async load(credentials): Promise<(AccountPrincipal | undefined)[]> {
      const alike = new Map(credentials.map((credential) => [toKey(credential), credential]));
      const found = await Promise.all(
        [...alike].map(([key, { orgId, kind }]) => {
          const ids = credentials.filter((credential) => toKey(credential) === key).map(({ id }) => id);
          return findCredentials(orgId, kind, ids);
        }),
      );
      const principals = new Map(
        found.flat().flatMap(({ id, principal, isActive }) => (isActive ? [[id, principal]] : [])),
      );
      return credentials.map(({ id }) => principals.get(id));
    },
    maxBatch: MAX_BATCH,
    maxInFlight: MAX_IN_FLIGHT,
  });

  return async ({ orgId, subscription }, text, position) => {
    const type = byName.get(subscription?.event ?? '');
    if (!subscription || Date.parse(subscription.endsAt) <= clock()) return { endReason: 'expired' };
    const { arguments: args, credentialKind: kind, credentialId: id, epoch, deletions } = subscription;
    const principal = await findPrincipal({ orgId, kind, id });
    if (!principal || !type) return { endReason: 'unauthorized' };
    const caller = toEventCaller(principal, await getCatalogue(principal));
    if (!type.isVisible(caller) || !type.accepts(args, caller)) return { endReason: 'unauthorized' };
    const [occurrence] = await toOccurrences(pool, { type, args, caller }, [JSON.parse(text) as FactEvent]);
    const cursor = encodeCursor({ epoch, position, deletions });
    return { content: occurrence && JSON.stringify({ ...occurrence, cursor }) };
  };
}
