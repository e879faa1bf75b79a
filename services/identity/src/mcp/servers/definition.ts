import { hash } from 'node:crypto';
import type { ListToolsResult } from '@modelcontextprotocol/client';

type ListedTool = ListToolsResult['tools'][number];
/** The parts of a tool that are pinned: everything that a model or its host reads. Icons and metadata are dropped. */
export type Definition = Pick<
  ListedTool,
  'name' | 'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'
>;

/** A definition as it is stored. */
export interface PinnedDefinition {
  readonly name: string;
  readonly json: string;
  readonly hash: string;
}

/** The same for every order of an object's keys. */
function toCanonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCanonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, toCanonical(field)]),
  );
}

export function pinDefinition(tool: ListedTool): PinnedDefinition {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const definition = { name, title, description, inputSchema, outputSchema, annotations };
  return {
    name,
    json: JSON.stringify(definition),
    hash: hash('sha256', JSON.stringify(toCanonical(definition)), 'base64url'),
  };
}

export const parseDefinition = (json: string): Definition => JSON.parse(json) as Definition;
