import type { Definition } from './definition.js';

/**
 * Signs that a definition addresses the model rather than describes the tool. They are for the administrator who
 * approves it, and decide nothing: no list of phrases is complete.
 */
export const definitionFlags = ['hidden_characters', 'instructs_model'] as const;
export type DefinitionFlag = (typeof definitionFlags)[number];

/**
 * Format characters (zero-width and bidirectional ones, tags), private-use and unassigned ones, controls except line
 * breaks and tabs, and variation selectors beyond those of emoji: a person doesn't see them, a model reads them.
 */
const hidden = /[\p{Cf}\p{Co}\p{Cn}\p{Cs}\u{E0100}-\u{E01EF}]|[^\P{Cc}\n\r\t]/u;

const phrases = [
  /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|other|all|system)\b/iu,
  /\b(?:do not|don't|never)\s+(?:tell|mention|reveal|show|inform|ask|notify)\b/iu,
  /\bwithout\s+(?:telling|informing|asking|notifying)\b/iu,
  /\b(?:you|the (?:assistant|model|agent|ai))\s+(?:must|should|shall|have to|need to)\s+(?:always|first|also|never|not)\b/iu,
  /<\s*\/?\s*(?:system|important|instructions?|secret|assistant)\s*>/iu,
  /\b(?:before|instead of)\s+(?:using|calling)\s+(?:this|any|other)\b/iu,
  /\b(?:system prompt|api key|password|private key|access token|\.ssh|\.env|credentials?)\b.{0,60}\b(?:send|pass|include|append|attach|provide|read)\b/iu,
  /\b(?:send|pass|include|append|attach|read)\b.{0,60}\b(?:system prompt|api key|password|private key|access token|\.ssh|\.env|conversation|credentials?)\b/iu,
];

/** Returns every text of a JSON value, keys included. */
function collectTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, field]) => [
    ...(Array.isArray(value) ? [] : [key]),
    ...collectTexts(field),
  ]);
}

export function findFlags(definition: Definition): DefinitionFlag[] {
  const texts = collectTexts(definition);
  const flags: DefinitionFlag[] = [];
  if (texts.some((text) => hidden.test(text))) flags.push('hidden_characters');
  // Hidden characters may split the words of a phrase.
  const readable = texts.map((text) =>
    text.replaceAll(/[\p{Cf}\p{Cc}]+/gu, (found) => (/\s/u.test(found) ? ' ' : '')),
  );
  if (readable.some((text) => phrases.some((phrase) => phrase.test(text)))) flags.push('instructs_model');
  return flags;
}
