import { parse, stringify } from 'lossless-json';
import { isLegacy, type StreamDescriptor, toStreamName } from './messages.js';

/* The states of a source, by stream. They stay text, since a number of a source may be larger than JavaScript can hold. */

/** The key of a state, or of an estimate, that is not of one stream. */
export const WHOLE = '';

interface StateBody {
  readonly type?: string | null;
  readonly stream?: { readonly stream_descriptor: StreamDescriptor };
}

export const toStateKey = (state: StateBody): string =>
  state.type === 'STREAM' && state.stream ? toStreamName(state.stream.stream_descriptor) : WHOLE;

/** @param text - a list of states as `--state` takes them, or the one of the oldest protocol. */
export function parseStates(text: string): Map<string, string> {
  const states = parse(text);
  if (!Array.isArray(states)) return new Map([[WHOLE, text]]);
  return new Map(states.map((state) => [toStateKey(state as StateBody), stringify(state) ?? '']));
}

/** @returns what `--state` takes; undefined when there is no state. */
export function formatStates(states: ReadonlyMap<string, string>): string | undefined {
  if (states.size === 0) return undefined;
  const whole = states.get(WHOLE);
  if (whole !== undefined && isLegacy(parse(whole) as StateBody)) return whole;
  return `[${[...states.values()].join(',')}]`;
}
