import { Compile } from 'typebox/compile';
import type { SyncEventType } from './connectors.js';
import { type SyncEvent, syncEventContracts } from './sync-event.js';

/** The message is not a sync event of a known type; the text of the error says why. */
export class InvalidEventError extends Error {
  override readonly name = 'InvalidEventError';
}

type Validator = ReturnType<typeof Compile>;
const validators = new Map<string, Validator>();

/** Checks are compiled at the first event of a type, because most consumers read few types. */
function getValidator(eventType: string): Validator | undefined {
  if (!Object.hasOwn(syncEventContracts, eventType)) return undefined;
  const validator = validators.get(eventType) ?? Compile(syncEventContracts[eventType as SyncEventType]);
  validators.set(eventType, validator);
  return validator;
}

/**
 * Reads the value of a message and checks it against the contract of its type. Unknown fields are kept.
 *
 * @throws {@link InvalidEventError}
 */
export function parseSyncEvent(text: string | Buffer | null): SyncEvent {
  let value: unknown;
  try {
    value = JSON.parse(String(text));
  } catch (cause) {
    throw new InvalidEventError('not JSON', { cause });
  }
  const { eventType } = (value ?? {}) as { eventType?: unknown };
  const validator = getValidator(String(eventType));
  if (!validator) throw new InvalidEventError('unknown eventType');
  if (validator.Check(value)) return value as SyncEvent;
  const [fault] = validator.Errors(value);
  throw new InvalidEventError(`${fault?.instancePath || 'the event'} ${fault?.message ?? 'is invalid'}`);
}
