import { type FactType, insertFactReportsOf } from '@platform/events/facts';

/** Returns the insert of the facts that new suppressions are. @param added - a relation with columns of `suppressions`. */
export const insertSuppressionFacts = (added: string): string =>
  insertFactReportsOf(`(
    select gen_random_uuid() as id, org_id, '${'mail.suppressed' satisfies FactType}' as type,
      jsonb_build_object('suppressionId', id, 'reason', reason, 'status', status) as data, created_at as at
    from ${added}) as fact`);
