import { parse } from 'lossless-json';
import { isLegacy, type StreamDescriptor, toStreamName } from './messages.js';

/*
 * The states of a source, by stream. They stay text, since a number of a source may be larger than JavaScript can hold. Those
 * of its mode for permissions have the same names after a prefix.
 */

/** The key of a state, or of an estimate, that is not of one stream. */
export const WHOLE = '';
/** What the keys of the mode for permissions begin with. No stream is called so. */
export const PERMISSIONS = '\0permissions ';

export type StatePrefix = '' | typeof PERMISSIONS;
export type States = ReadonlyMap<string, string>;

interface StateBody {
  readonly type?: string | null;
  readonly stream?: { readonly stream_descriptor: StreamDescriptor };
}

export const toStateKey = (state: StateBody): string =>
  state.type === 'STREAM' && state.stream ? toStreamName(state.stream.stream_descriptor) : WHOLE;

/** Writes states for a checkpoint. @returns undefined when there is none. */
export const serialiseStates = (states: States): string | undefined =>
  states.size === 0 ? undefined : JSON.stringify([...states]);

export const parseStates = (text: string): Map<string, string> =>
  new Map(JSON.parse(text) as [string, string][]);

/** Returns the states with the prefix, or those without any. */
export const selectStates = (states: States, prefix: StatePrefix): Map<string, string> =>
  new Map([...states].filter(([key]) => key.startsWith(PERMISSIONS) === (prefix === PERMISSIONS)));

/** @returns what `--state` takes, a list or the state of the oldest protocol; undefined when there is no state. */
export function formatStates(states: States, prefix: StatePrefix): string | undefined {
  const selected = selectStates(states, prefix);
  if (selected.size === 0) return undefined;
  const whole = selected.get(prefix + WHOLE);
  if (whole !== undefined && isLegacy(parse(whole) as StateBody)) return whole;
  return `[${[...selected.values()].join(',')}]`;
}
