import type { FactEvent } from '@platform/events';
import type pg from 'pg';
import type { EventCaller } from './event-caller.js';
import type { EventArguments, EventType } from './event-types.js';
import { findOwnTokens } from './own-tokens.sql.js';

/** An event as a client gets it. Its id is that of its fact, and the same each time. */
export interface Occurrence {
  readonly eventId: string;
  readonly name: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const isAboutToken = ({ type }: FactEvent): boolean => type.startsWith('token.');
const getSubject = ({ data }: FactEvent): string => String(data['subjectId']);

/** Returns what each fact is for a caller who follows events of the type; undefined for what it is not to see. */
export async function toOccurrences(
  pool: pg.Pool,
  {
    type,
    args,
    caller,
  }: { readonly type: EventType; readonly args: EventArguments; readonly caller: EventCaller },
  facts: readonly FactEvent[],
): Promise<(Occurrence | undefined)[]> {
  const { name } = type;
  const tokenIds = name.startsWith('my_token.') ? facts.filter(isAboutToken).map(getSubject) : [];
  const tokens = tokenIds.length > 0 ? await findOwnTokens(pool, caller.principal, tokenIds) : [];
  return facts.map((fact) => {
    const ownToken = tokens.find(({ id }) => id === getSubject(fact));
    const data = type.toData({ fact, args, caller, ownToken });
    return data && { eventId: fact.id, name, timestamp: fact.time, data };
  });
}
