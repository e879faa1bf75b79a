import { JsonText } from '@platform/service-kit';
import type { Definition } from './definition.js';

/** Properties that the administrator who approves a definition should look at, as a person doesn't see them. They decide nothing. */
export const definitionFlags = ['hidden_characters'] as const;
export type DefinitionFlag = (typeof definitionFlags)[number];

/**
 * Format characters (zero-width and bidirectional ones, tags), private-use and unassigned ones, controls except line
 * breaks and tabs, and variation selectors beyond those of emoji: a person doesn't see them, a model reads them.
 */
const hidden = /[\p{Cf}\p{Co}\p{Cn}\p{Cs}\u{E0100}-\u{E01EF}]|[^\P{Cc}\n\r\t]/u;

/** Returns every text of a JSON value, keys included. */
function collectTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || value instanceof JsonText) return [];
  return Object.entries(value).flatMap(([key, field]) => [
    ...(Array.isArray(value) ? [] : [key]),
    ...collectTexts(field),
  ]);
}

export const findFlags = (definition: Definition): DefinitionFlag[] =>
  collectTexts(definition).some((text) => hidden.test(text)) ? ['hidden_characters'] : [];
