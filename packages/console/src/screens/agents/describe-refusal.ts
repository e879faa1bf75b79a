import { agents } from '#text/agents';

const t = agents.reasons;

/** Says why something was refused, as a clause such as “it lacks kb:read”. */
export function describeRefusal(reason: string, lacks: readonly string[]): string {
  if (reason === 'scope') return t.scope(lacks);
  if (!(reason in t)) return t.other(reason);
  const words = t[reason as keyof typeof t];
  return typeof words === 'string' ? words : reason;
}

/** Names the outcome of a call. */
export function describeOutcome(outcome: string): string {
  const words = agents.calls.outcomes;
  return words[outcome as keyof typeof words] ?? outcome;
}
